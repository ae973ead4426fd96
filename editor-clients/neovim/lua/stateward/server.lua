-- The program that serves: whether it is there and new enough, and what it says at a shell.
local M = {}

-- The oldest one that has all that this client asks of it.
M.NEEDS = "0.1.0"

local told = {}

-- Says a thing once, in one line.
function M.tell_once(problem)
  if not told[problem] then
    told[problem] = true
    vim.notify(problem, vim.log.levels.WARN)
  end
end

-- What was told is told again if it still holds.
function M.forget()
  told = {}
end

-- The words that run it, without the verb `lsp`; `nil` where a function of somebody's own connects to the server.
function M.words()
  local command = vim.lsp.config.stateward.cmd
  return type(command) == "table" and vim.list_slice(command, 1, #command - 1) or nil
end

-- What is wrong if there is no such program, else `nil`.
function M.missing()
  local words = M.words()
  if words and vim.fn.executable(words[1]) == 0 then
    return ("stateward: there is no program %s; install it, then :Stateward restart"):format(words[1])
  end
end

-- What is wrong with a version, else `nil`; of one that cannot be read nothing is known.
function M.too_old(version)
  local found = vim.version.parse(version or "")
  if found and vim.version.lt(found, vim.version.parse(M.NEEDS)) then
    local wrong = "stateward %s is too old, %s is needed; install it, then run: stateward daemon restart"
    return wrong:format(version, M.NEEDS)
  end
end

-- Runs it with further words, and calls back with what it printed, or with `nil` where it failed.
function M.run(arguments, done)
  local command = vim.list_extend(assert(M.words()), arguments)
  local function ended(result)
    done(result.code == 0 and result.stdout or nil)
  end
  local started = pcall(vim.system, command, { text = true, env = vim.lsp.config.stateward.cmd_env }, vim.schedule_wrap(ended))
  if not started then
    done(nil)
  end
end

return M
