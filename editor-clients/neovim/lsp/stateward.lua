-- stateward for Neovim 0.11 and later: put this folder on 'runtimepath', then vim.lsp.enable("stateward").
return {
  cmd = { "stateward", "lsp" },
  filetypes = { "markdown" },
  -- Other Markdown files are none of its business: without the call no client is started for them.
  root_dir = function(buffer, on_dir)
    local path = vim.api.nvim_buf_get_name(buffer)
    if vim.fs.basename(path) == "ACTIVE_GOAL_STATE.md" then
      on_dir(vim.fs.dirname(path))
    end
  end,
}
