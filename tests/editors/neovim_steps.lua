-- What scripts in a real Neovim share: they work as a person does, and print what held as one line of JSON.
local M = { told = { passed = {} } }

local now

function M.check(name, body)
  now = name
  body()
  table.insert(M.told.passed, name)
end

function M.wait_for(what, condition)
  assert(vim.wait(90000, condition, 10), "timed out waiting for " .. what)
end

function M.same(found, expected)
  assert(vim.deep_equal(found, expected), "found " .. vim.inspect(found) .. ", not " .. vim.inspect(expected))
end

function M.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false), "\n")
end

function M.codes(buffer)
  return vim.tbl_map(function(found) return found.code end, vim.diagnostic.get(buffer))
end

function M.wait_for_codes(buffer, ...)
  local expected = { ... }
  M.wait_for("the problems " .. vim.inspect(expected), function() return vim.deep_equal(M.codes(buffer), expected) end)
end

-- Returns a function that waits until the person was told some words since now, and returns all lines that were told.
function M.listen()
  vim.cmd("messages clear")
  local function told()
    return vim.api.nvim_exec2("messages", { output = true }).output
  end
  return function(words)
    M.wait_for(words, function() return told():find(words, 1, true) end)
    return vim.split(told(), "\n", { trimempty = true })
  end
end

-- The agents of this machine, at a shell; returns what was printed.
function M.agent(...)
  local done = vim.system({ vim.env.PYTHON, "-m", "stateward_daemon", ... }, { cwd = vim.env.FOLDER }):wait()
  assert(done.code == 0, done.stderr)
  return done.stdout
end

-- Sets the client up as its README does, works once Neovim has started, and ends it.
function M.run(work)
  vim.cmd("filetype plugin on")
  vim.opt.runtimepath:prepend(vim.env.CLIENT)
  vim.cmd.runtime("plugin/stateward.lua")
  vim.lsp.config("stateward", { cmd = { vim.env.PYTHON, "-m", "stateward_daemon", "lsp" } })
  vim.lsp.enable("stateward")
  local function started()
    local ok, problem = xpcall(work, debug.traceback)
    if not ok then
      M.told.failed = ("%s: %s"):format(now or "start", problem)
    end
    io.stdout:write("\n" .. vim.json.encode(M.told) .. "\n")
    vim.cmd(ok and "qall!" or "cquit!")
  end
  vim.api.nvim_create_autocmd("VimEnter", { callback = vim.schedule_wrap(started) })
end

return M
