-- Run by relays.py in a real Neovim, which says there what this is.
vim.opt.runtimepath:prepend(vim.env.CLIENT)
local command = { vim.env.PYTHON, "-m", "stateward_daemon", select(2, unpack(vim.lsp.config.stateward.cmd)) }

local function relay(pipe)
  local server
  local replying = {}

  local function tell(message)
    message.jsonrpc = "2.0"
    if not pipe:is_closing() then
      pipe:write(vim.json.encode(message) .. "\n")
    end
  end

  local function hang_up()
    if not pipe:is_closing() then
      pipe:close()
    end
    server.terminate()
  end

  server = vim.lsp.rpc.start(command, {
    notification = function(method, params)
      tell({ method = method, params = params })
    end,
    server_request = function(method, params)
      local id = "server-" .. vim.tbl_count(replying)
      replying[id] = coroutine.running()
      tell({ id = id, method = method, params = params })
      return coroutine.yield()
    end,
    on_exit = vim.schedule_wrap(hang_up),
  })

  local function pass_on(message)
    if message.method and message.id then
      server.request(message.method, message.params, function(problem, result)
        tell(problem and { id = message.id, error = problem } or { id = message.id, result = result })
      end)
    elseif message.method then
      server.notify(message.method, message.params)
    else
      coroutine.resume(replying[message.id], message.result, message.error)
    end
  end

  local rest = ""
  pipe:read_start(vim.schedule_wrap(function(problem, data)
    if problem or not data then
      return hang_up()
    end
    local lines = vim.split(rest .. data, "\n")
    rest = table.remove(lines)
    for _, line in ipairs(lines) do
      pass_on(vim.json.decode(line))
    end
  end))
  vim.wait(240000, function() return pipe:is_closing() end, 2)
end

while true do
  local pipe = assert(vim.uv.new_pipe())
  local connected
  pipe:connect(vim.env.RELAY, function(problem)
    connected = { problem }
  end)
  vim.wait(10000, function() return connected ~= nil end, 2)
  if connected == nil or connected[1] then
    break
  end
  relay(pipe)
end
vim.cmd.quitall()
