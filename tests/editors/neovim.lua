-- Run by test_neovim.py in a real Neovim: opens the document that $DOCUMENT names and prints what a person would see.
local seen = {}

local function wait_for(what, condition)
  assert(vim.wait(20000, condition, 20), "timed out waiting for " .. what)
end

local function shown(buffer)
  return vim.tbl_map(function(found)
    return { line = found.lnum, from = found.col, to = found.end_col, code = found.code, source = found.source }
  end, vim.diagnostic.get(buffer))
end

local function codes(buffer)
  return table.concat(vim.tbl_map(function(found) return found.code end, vim.diagnostic.get(buffer)), " ")
end

local ok, problem = pcall(function()
  vim.cmd("filetype plugin on")
  vim.opt.runtimepath:prepend(vim.env.CLIENT)
  vim.lsp.config("stateward", { cmd = { vim.env.PYTHON, "-m", "stateward_daemon", "lsp" } })
  vim.lsp.enable("stateward")

  vim.cmd.edit(vim.fs.dirname(vim.env.DOCUMENT) .. "/README.md")
  seen.clients_of_another_file = #vim.lsp.get_clients({ bufnr = 0 })

  vim.cmd.edit(vim.env.DOCUMENT)
  local buffer = vim.api.nvim_get_current_buf()
  wait_for("diagnostics", function() return #vim.diagnostic.get(buffer) > 0 end)
  seen.encoding = vim.lsp.get_clients({ bufnr = buffer })[1].offset_encoding
  seen.at_first = shown(buffer)

  vim.api.nvim_win_set_cursor(0, { seen.at_first[1].line + 1, 6 })
  vim.lsp.buf.hover()
  local function float()
    return vim.iter(vim.api.nvim_list_wins()):find(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end)
  end
  wait_for("the hover window", float)
  seen.hover = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float()), 0, -1, false), "\n")

  -- Typed, and not saved.
  local row = seen.at_first[1].line + 1
  vim.api.nvim_buf_set_lines(buffer, row, row, false, { "  <!-- loopx:todo todo_id=todo_typed -->" })
  wait_for("no diagnostics after the row has an id", function() return #vim.diagnostic.get(buffer) == 0 end)
  vim.cmd("silent write")

  -- Somebody else saves by rename; nothing is done in the editor.
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  table.remove(lines, row + 1)
  vim.fn.writefile(lines, vim.env.DOCUMENT .. ".new")
  vim.uv.fs_rename(vim.env.DOCUMENT .. ".new", vim.env.DOCUMENT)
  wait_for("diagnostics of the outside edit", function() return codes(buffer) == "implicit_todo_ids" end)
  seen.after_an_outside_edit = codes(buffer)
end)
seen.ok, seen.problem = ok, problem
io.stdout:write("\n" .. vim.json.encode(seen) .. "\n")
vim.cmd(ok and "qall!" or "cquit!")
