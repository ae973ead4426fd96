-- Run by figures.py in a real Neovim, which says there what it prints.
-- Fewer than the bridge takes for a daemon that cannot live.
local KILLS = 3
local STATEWARD = { vim.env.PYTHON, "-m", "stateward_daemon" }
local figure = vim.env.FIGURE

local function tell(found)
  io.stdout:write(vim.json.encode(found) .. "\n")
  io.stdout:flush()
  vim.cmd("qa!")
end

local function problems() return #vim.diagnostic.get(0) end

local function wait_for_problems(count)
  assert(vim.wait(30000, function() return problems() == count end, 2), "no " .. count .. " problems")
end

local function daemon_pid()
  local command = vim.list_extend(vim.deepcopy(STATEWARD), { "where", "--json" })
  return vim.json.decode(vim.system(command):wait().stdout).pid
end

local function measure()
  if figure ~= "bare" then
    vim.opt.runtimepath:prepend(vim.env.CLIENT)
    vim.cmd.runtime("plugin/stateward.lua")
    vim.lsp.config("stateward", { cmd = vim.list_extend(vim.deepcopy(STATEWARD), { "lsp" }) })
    vim.lsp.enable("stateward")
  end
  vim.cmd.edit(vim.env.DOCUMENT)
  if figure == "bare" then
    return tell(vim.empty_dict())
  end
  wait_for_problems(1)
  if figure == "start" then
    return tell(vim.empty_dict())
  end

  local said = {}
  vim.notify = function(text) said[#said + 1] = text end
  vim.cmd("messages clear")
  local back = {}
  for number = 1, KILLS do
    local pid = daemon_pid()
    local began = vim.uv.hrtime()
    vim.uv.kill(pid, "sigkill")
    vim.api.nvim_buf_set_lines(0, -1, -1, false, { "- [ ] row " .. number })
    wait_for_problems(1 + number)
    back[number] = (vim.uv.hrtime() - began) / 1e6
  end
  local messages = vim.api.nvim_exec2("messages", { output = true }).output
  if messages ~= "" then
    said[#said + 1] = messages
  end
  tell({ back_ms = back, said = said })
end

local fine, problem = pcall(measure)
if not fine then
  io.stderr:write(problem .. "\n")
  vim.cmd("cq!")
end
