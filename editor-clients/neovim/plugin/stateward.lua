local group = vim.api.nvim_create_augroup("stateward_documents", {})

-- Neovim's plugin for Markdown takes completion and `gO` from the server, and again each time that a file is read anew.
local OUTLINE_OF_MARKDOWN = "Show an Outline of the current buffer"

vim.api.nvim_create_autocmd({ "LspAttach", "FileType" }, {
  group = group,
  callback = function(event)
    local buffer = event.buf
    if #vim.lsp.get_clients({ bufnr = buffer, name = "stateward" }) == 0 then
      return
    end
    if vim.bo[buffer].omnifunc == "htmlcomplete#CompleteTags" then
      vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
    end
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buffer, "n")) do
      if map.lhs == "gO" and map.desc == OUTLINE_OF_MARKDOWN then
        vim.keymap.del("n", "gO", { buffer = buffer })
      end
    end
  end,
})

-- Values of the state and projections as buffers that nobody writes.

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "stateward:/*",
  callback = function(event)
    require("stateward").open(event.buf)
  end,
})

vim.api.nvim_create_user_command("Stateward", function(command)
  require("stateward.command").run(command.args, command.bang)
end, {
  bang = true,
  nargs = "?",
  complete = function(...)
    return require("stateward.command").complete(...)
  end,
  desc = "Browse the state, work on the todo under the cursor, or restart the server",
})
