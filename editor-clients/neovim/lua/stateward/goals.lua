-- Which files are documents of registered goals, whatever their names are.
local server = require("stateward.server")
local M = {}

-- Those who wait for the goals, while they are asked for.
local waiting = {}

local function answer(goals)
  local served = waiting
  waiting = {}
  for _, serve in ipairs(served) do
    serve(goals or {})
  end
end

local function ask()
  local client = vim.lsp.get_clients({ name = "stateward" })[1]
  if client and not client:is_stopped() then
    client:request("goal_list", vim.empty_dict(), function(_, list)
      answer(list and list.goals)
    end)
    return
  end
  if not server.words() or server.missing() then
    answer()
    return
  end
  -- Asking starts a daemon. Where nothing was ever stored no goal is registered, and nobody needs one.
  server.run({ "where", "--json" }, function(places)
    if not places or not vim.uv.fs_stat(vim.json.decode(places).store) then
      answer()
      return
    end
    server.run({ "goal", "list", "--json" }, function(list)
      answer(list and vim.json.decode(list).goals)
    end)
  end)
end

-- Calls back if a file is the document of a goal.
function M.if_registered(file, found)
  local path = vim.uv.fs_realpath(file)
  if not path then
    return
  end
  waiting[#waiting + 1] = function(goals)
    for _, goal in ipairs(goals) do
      if goal.path == path then
        found()
        return
      end
    end
  end
  if #waiting == 1 then
    ask()
  end
end

return M
