-- Values of the state and projections as buffers that nobody writes, and a command that opens them.
local group = vim.api.nvim_create_augroup("stateward_documents", {})

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "stateward:/*",
  callback = function(event)
    require("stateward").open(event.buf)
  end,
})

vim.api.nvim_create_user_command("Stateward", function(command)
  local uri = "stateward:/" .. command.args:gsub("%.", "/") .. ".json" .. (command.bang and "" or "?keys")
  vim.cmd.edit(vim.fn.fnameescape(uri))
end, { bang = true, nargs = 1, desc = "Open the keys of a path of the state, with ! its value" })
