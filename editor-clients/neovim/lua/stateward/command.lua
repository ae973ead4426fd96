-- `:Stateward`: each word is what a person does; anything else is a path of the state.
local M = {}

local PATIENCE_MS = 2000

-- Ends the connections of all documents and makes new ones, by which everything is read anew.
local function restart()
  local server = require("stateward.server")
  server.forget()
  local missing = server.missing()
  if missing then
    server.tell_once(missing)
    return
  end
  local clients = vim.lsp.get_clients({ name = "stateward" })
  for _, client in ipairs(clients) do
    client:stop()
  end
  local function ended()
    return #vim.lsp.get_clients({ name = "stateward" }) == 0
  end
  if not vim.wait(PATIENCE_MS, ended, 10) then
    for _, client in ipairs(clients) do
      client:stop(true)
    end
    vim.wait(PATIENCE_MS, ended, 10)
  end
  vim.lsp.enable("stateward")
end

local WORDS = {
  browse = function()
    require("stateward.browser").show()
  end,
  restart = restart,
}
for _, word in ipairs({ "claim", "complete", "receipt" }) do
  WORDS[word] = function()
    require("stateward.todos").run(word)
  end
end

-- Runs what was written behind the command.
function M.run(argument, bang)
  local act = WORDS[argument == "" and "browse" or argument]
  if act then
    act()
  else
    require("stateward").edit(argument, not bang)
  end
end

local function paths_at(lead)
  local parent = lead:match("^(.*)%.[^.]*$")
  if not parent then
    return require("stateward").ROOTS
  end
  local client = vim.lsp.get_clients({ name = "stateward" })[1]
  local answer = client and client:request_sync("read_state", { path = parent, projection = "keys" }, PATIENCE_MS)
  local keys = answer and answer.result and answer.result.keys
  local names = type(keys) == "table" and not vim.islist(keys) and vim.tbl_keys(keys) or {}
  return vim.tbl_map(function(name) return parent .. "." .. name end, names)
end

-- The words and paths that begin with what is written.
function M.complete(lead)
  local offered = vim.list_extend(vim.tbl_keys(WORDS), paths_at(lead))
  return vim.fn.sort(vim.tbl_filter(function(word) return vim.startswith(word, lead) end, offered))
end

return M
