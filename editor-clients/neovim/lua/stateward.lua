-- The buffers of virtual documents: what the server says of a URI.
local M = {}

local METHOD = "workspace/textDocumentContent"
local PATIENCE_MS = 5000

-- Where paths of the state begin.
M.ROOTS = { "effective", "global", "cwd", "session" }

local function fill(buffer, text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text:gsub("\n$", ""), "\n"))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

-- The server of what is shown, or of what was shown before; that of any document where neither has one.
-- Where there is none the person is told.
function M.client()
  for _, buffer in ipairs({ vim.api.nvim_get_current_buf(), vim.fn.bufnr("#") }) do
    local found = buffer > 0 and vim.lsp.get_clients({ name = "stateward", bufnr = buffer })[1]
    if found then
      return found
    end
  end
  local any = vim.lsp.get_clients({ name = "stateward" })[1]
  if not any then
    vim.notify("stateward: open a goal document first", vim.log.levels.WARN)
  end
  return any
end

-- Shows the value at a path of the state, or with `keys` its keys alone.
function M.edit(path, keys)
  local place = path:gsub("%.", "/"):gsub("[%[%]]", { ["["] = "%5B", ["]"] = "%5D" })
  vim.cmd.edit(vim.fn.fnameescape("stateward:/" .. place .. ".json" .. (keys and "?keys" or "")))
end

-- Called when such a buffer is read.
function M.open(buffer)
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = "json"
  local client = M.client()
  if not client then
    return
  end
  -- Whoever opens it puts the cursor somewhere at once, so its text has to be there.
  local answer, problem = client:request_sync(METHOD, { uri = vim.api.nvim_buf_get_name(buffer) }, PATIENCE_MS, buffer)
  fill(buffer, answer and (answer.err and answer.err.message or answer.result.text) or problem)
  -- So that references in a value can be followed.
  vim.lsp.buf_attach_client(buffer, client.id)
end

-- The server says that a document has another text now.
function M.refresh(_, params, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if client and vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) == params.uri then
      client:request(METHOD, { uri = params.uri }, function(refusal, answer)
        if vim.api.nvim_buf_is_loaded(buffer) then
          fill(buffer, refusal and refusal.message or answer.text)
        end
      end, buffer)
    end
  end
  return vim.NIL
end

return M
