-- Run by test_neovim_places.py: the same document in workspaces of all kinds of paths.
--
-- $PLACES has the path of its document in each, as JSON. The row without an id is line $ROW.
package.path = vim.env.STEPS .. "/?.lua;" .. package.path
local steps = require("neovim_steps")

local ROW = tonumber(vim.env.ROW)
steps.told.places = vim.empty_dict()

steps.run(function()
  for name, path in pairs(vim.json.decode(vim.env.PLACES)) do
    steps.check(name, function()
      vim.cmd.edit(vim.fn.fnameescape(path))
      local buffer = vim.api.nvim_get_current_buf()
      steps.wait_for_codes(buffer, "implicit_todo_ids")
      local found = vim.diagnostic.get(buffer)[1]
      local client = vim.lsp.get_clients({ bufnr = buffer })[1]
      vim.api.nvim_win_set_cursor(0, { ROW + 1, 6 })
      vim.lsp.buf.code_action({ apply = true, context = { only = { "quickfix" } } })
      steps.wait_for_codes(buffer)
      vim.cmd("silent write")
      steps.told.places[name] = { range = { found.lnum, found.col, found.end_lnum, found.end_col }, root = client.root_dir }
    end)
  end
end)
