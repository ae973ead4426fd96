-- What a person does about the todo under the cursor, as far as the server offers it there.
local M = {}

M.WORDS = {
  claim = { command = "stateward.claimTodo", nothing = "no todo that can be claimed" },
  complete = { command = "stateward.completeTodo", nothing = "no todo that can be completed" },
  receipt = { command = "stateward.showReceipt", nothing = "no todo with a receipt" },
}

function M.run(word)
  local wanted = M.WORDS[word]
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = "stateward", bufnr = buffer })[1]
  if not client then
    vim.notify("stateward: this is no goal document that is served", vim.log.levels.WARN)
    return
  end
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {}, only = { "stateward.todo" } }
  client:request("textDocument/codeAction", params, function(problem, actions)
    for _, action in ipairs(actions or {}) do
      local command = type(action.command) == "table" and action.command or action
      if command.command == wanted.command then
        client:exec_cmd(command, { bufnr = buffer })
        return
      end
    end
    local said = problem and problem.message or ("there is %s on this line"):format(wanted.nothing)
    vim.notify("stateward: " .. said, vim.log.levels.WARN)
  end, buffer)
end

return M
