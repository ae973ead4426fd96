-- A buffer with the keys of the state, one level at a time; a value is shown when somebody opens it.
local documents = require("stateward")
local M = {}

local NAME = "stateward-browser"
local marks = vim.api.nvim_create_namespace("stateward_browser")

-- What is shown: whose state, which paths are open, and of each line the path and the kind.
local shown = { client = nil, open = {}, lines = {}, asked = 0 }

local function buffer_of()
  local buffer = vim.fn.bufnr("^" .. NAME .. "$")
  return buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) and buffer or nil
end

local function client()
  return shown.client and vim.lsp.get_client_by_id(shown.client)
end

local function extent(meta)
  local count = meta.size or meta.length
  return count and ("%s of %d"):format(meta.type, count) or meta.type
end

-- Appends the lines of a path, and of all that is open below.
local function add(lines, levels, path, name, kind, depth)
  local level = levels[path]
  local opens = level and type(level.keys) == "table" and not vim.islist(level.keys)
  local sign = opens and "-" or kind == "object" and "+" or " "
  lines[#lines + 1] = { path = path, kind = kind, text = ("  "):rep(depth) .. sign .. " " .. name, extent = level and extent(level.meta) or kind }
  for _, key in ipairs(opens and vim.fn.sort(vim.tbl_keys(level.keys)) or {}) do
    -- Only what is a name can be part of a path.
    local inner = key:find("^[%w_-]+$") and path .. "." .. key or nil
    add(lines, levels, inner, inner and key or vim.json.encode(key), level.keys[key], depth + 1)
  end
end

local function draw(levels)
  local buffer = buffer_of()
  if not buffer then
    return
  end
  local lines = {}
  for _, root in ipairs(documents.ROOTS) do
    -- Nobody knows a session where none was named.
    if levels[root] then
      add(lines, levels, root, root, "object", 0)
    end
  end
  shown.lines = lines
  local at = client()
  local header = { "State of " .. (at and at.root_dir or "nobody") .. "  (g? tells about keys)" }
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.list_extend(header, vim.tbl_map(function(l) return l.text end, lines)))
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  for number, line in ipairs(lines) do
    vim.api.nvim_buf_set_extmark(buffer, marks, number, 0, { virt_text = { { line.extent, "Comment" } } })
  end
end

-- A daemon that took the place of another one knows of no subscription.
local function follow()
  local at = client()
  if at then
    at:request("subscribe", { topics = { "state" } }, function() end)
    M.refresh()
  end
end

-- Reads what is open anew; of two answers the later question counts.
function M.refresh()
  local at = client()
  if not at or not buffer_of() then
    return
  end
  shown.asked = shown.asked + 1
  local asked, levels = shown.asked, {}
  local paths = vim.list_extend(vim.tbl_keys(shown.open), documents.ROOTS)
  local left = #paths
  for _, path in ipairs(paths) do
    at:request("read_state", { path = path, projection = "keys" }, function(refusal, level)
      levels[path] = not refusal and level or nil
      left = left - 1
      if left == 0 and asked == shown.asked then
        -- A root that is not open is shown without its keys.
        for _, root in ipairs(documents.ROOTS) do
          if levels[root] and not shown.open[root] then
            levels[root].keys = nil
          end
        end
        draw(levels)
      end
    end)
  end
end

local function line()
  return shown.lines[vim.api.nvim_win_get_cursor(0)[1] - 1]
end

local function show_value()
  local chosen = line()
  if chosen and chosen.path then
    vim.cmd.wincmd("p")
    documents.edit(chosen.path)
  end
end

-- Opens or closes a level; of what has none the value is shown.
local function toggle()
  local chosen = line()
  if not chosen or not chosen.path or chosen.kind ~= "object" then
    show_value()
    return
  end
  shown.open[chosen.path] = not shown.open[chosen.path] or nil
  M.refresh()
end

local function new_buffer()
  vim.cmd("botright vertical 40 new")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_name(buffer, NAME)
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = "stateward"
  vim.wo.wrap = false
  for keys, act in pairs({
    ["<CR>"] = toggle,
    o = show_value,
    R = follow,
    q = "<Cmd>close<CR>",
    ["g?"] = "<Cmd>help stateward-browser<CR>",
  }) do
    vim.keymap.set("n", keys, act, { buffer = buffer, nowait = true })
  end
end

-- Shows the keys of the state of the project that is worked in.
function M.show()
  local at = documents.client()
  if not at then
    return
  end
  if shown.client ~= at.id then
    shown = { client = at.id, open = { cwd = true }, lines = {}, asked = shown.asked }
  end
  local buffer = buffer_of()
  local window = buffer and vim.fn.bufwinid(buffer) or -1
  if window >= 0 then
    vim.api.nvim_set_current_win(window)
  else
    new_buffer()
  end
  follow()
end

return M
