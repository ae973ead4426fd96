-- Run by real_editors.py in a real Neovim: works as a person does, and prints what held as one line of JSON.
--
-- $FOLDER has ACTIVE_GOAL_STATE.md, whose goal is `release`, and README.md, which is no goal document.
-- $CRLF is the same goal document with other line ends. The row without an id is line $ROW, counted from 0, of both, and
-- has $ROW_BYTES bytes.
local version = vim.version()
local told = { editor = ("Neovim %d.%d.%d"):format(version.major, version.minor, version.patch), passed = {} }
local DOCUMENT = vim.env.FOLDER .. "/ACTIVE_GOAL_STATE.md"
local ROW = tonumber(vim.env.ROW)
local BYTES = tonumber(vim.env.ROW_BYTES)

local now
local function check(name, body)
  now = name
  body()
  told.passed[#told.passed + 1] = name
end

local function wait_for(what, condition)
  assert(vim.wait(30000, condition, 10), "timed out waiting for " .. what)
end

local function same(found, expected)
  assert(vim.deep_equal(found, expected), "found " .. vim.inspect(found) .. ", not " .. vim.inspect(expected))
end

local function codes(buffer)
  return vim.tbl_map(function(found) return found.code end, vim.diagnostic.get(buffer))
end

local function wait_for_codes(buffer, ...)
  local expected = { ... }
  wait_for("the problems " .. vim.inspect(expected), function() return vim.deep_equal(codes(buffer), expected) end)
end

local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

-- What is drawn between and behind the words of a line, from everybody who draws.
local function drawn(buffer, line)
  local words = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, -1, { line, 0 }, { line, -1 }, { details = true })) do
    for _, chunks in ipairs({ mark[4].virt_text or {}, unpack(mark[4].virt_lines or {}) }) do
      for _, chunk in ipairs(chunks) do
        words[#words + 1] = chunk[1]
      end
    end
  end
  return table.concat(words)
end

local function wait_for_lens(buffer, line, has, lacks)
  local function shown()
    local found = drawn(buffer, line)
    return found:find(has, 1, true) and not (lacks and found:find(lacks, 1, true))
  end
  wait_for("the lens " .. has .. " on line " .. line + 1, shown)
end

local function fix_at(line)
  vim.api.nvim_win_set_cursor(0, { line + 1, 6 })
  vim.lsp.buf.code_action({ apply = true, context = { only = { "quickfix" } } })
end

-- The agents of this machine, at a shell.
local function agent(...)
  local done = vim.system({ vim.env.PYTHON, "-m", "stateward_daemon", ... }, { cwd = vim.env.FOLDER }):wait()
  assert(done.code == 0, done.stderr)
end

local function work()
  vim.cmd("filetype plugin on")
  vim.opt.runtimepath:prepend(vim.env.CLIENT)
  vim.lsp.config("stateward", { cmd = { vim.env.PYTHON, "-m", "stateward_daemon", "lsp" } })
  vim.lsp.enable("stateward")

  vim.cmd.edit(vim.env.FOLDER .. "/README.md")
  local another = vim.api.nvim_get_current_buf()
  local began = vim.uv.hrtime()
  vim.cmd.edit(DOCUMENT)
  local buffer = vim.api.nvim_get_current_buf()
  local client

  check("problems are shown where they are", function()
    wait_for_codes(buffer, "implicit_todo_ids")
    told.first_diagnostic_ms = math.floor((vim.uv.hrtime() - began) / 1e6)
    local found = vim.diagnostic.get(buffer)[1]
    same({ found.lnum, found.col, found.end_col, found.source }, { ROW, 0, BYTES, "stateward" })
  end)

  check("another Markdown file is left alone", function()
    same({ vim.bo[another].filetype, #vim.lsp.get_clients({ bufnr = another }) }, { "markdown", 0 })
    same(#vim.lsp.get_clients(), 1)
  end)

  check("columns are counted in UTF-8", function()
    client = vim.lsp.get_clients({ bufnr = buffer })[1]
    same(client.offset_encoding, "utf-8")
  end)

  check("hover tells about the row and what is wrong there", function()
    vim.api.nvim_win_set_cursor(0, { ROW + 1, 6 })
    vim.lsp.buf.hover()
    local function float()
      return vim.iter(vim.api.nvim_list_wins()):find(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end)
    end
    wait_for("the hover window", float)
    local hover = text(vim.api.nvim_win_get_buf(float()))
    vim.api.nvim_win_close(float(), true)
    assert(hover:find("status: open") and hover:find("todo_"), hover)
  end)

  check("what is typed is told before it is saved", function()
    vim.api.nvim_buf_set_lines(buffer, ROW + 1, ROW + 1, false, { "  <!-- loopx:todo todo_id=todo_typed -->" })
    wait_for_codes(buffer)
    vim.api.nvim_buf_set_lines(buffer, ROW + 1, ROW + 2, false, {})
    wait_for_codes(buffer, "implicit_todo_ids")
  end)

  check("a quick fix is applied, and its problem goes", function()
    fix_at(ROW)
    wait_for_codes(buffer)
    assert(text(buffer):find("todo_id=todo_%x+"), text(buffer))
    vim.cmd("silent write")
  end)

  check("lenses are shown, and follow what an agent does elsewhere", function()
    wait_for_lens(buffer, ROW - 2, "2 open")
    wait_for_lens(buffer, ROW + 2, "Claim")
    agent("todo", "claim", "--goal-id", "release", "--todo-id", "todo_rehearse", "--agent-id", "bob")
    -- Nothing is typed, and the server's word is all that tells the editor.
    wait_for_lens(buffer, ROW + 2, "Show receipt")
    vim.cmd("silent checktime")
    assert(text(buffer):find("claimed_by=bob", 1, true), text(buffer))
    wait_for_lens(buffer, ROW + 2, "Complete", "Claim")
  end)

  check("lenses are not left older than the text", function()
    local place = vim.lsp.util.make_position_params(0, "utf-8")
    local function type_row(id)
      vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "- [ ] more", "  <!-- loopx:todo todo_id=" .. id .. " -->" })
      -- A request goes out after what was typed.
      client:request("textDocument/hover", place, function() end, buffer)
    end
    vim.api.nvim_create_autocmd("LspRequest", {
      buffer = buffer,
      callback = function(told_of)
        local request = told_of.data.request
        if request.method == "textDocument/codeLens" and request.type == "pending" then
          type_row("todo_two")
          return true
        end
      end,
    })
    type_row("todo_one")
    wait_for_lens(buffer, ROW - 2, "4 open")
    vim.api.nvim_buf_set_lines(buffer, -5, -1, false, {})
    wait_for_lens(buffer, ROW - 2, "2 open")
    vim.cmd("silent write")
  end)

  check("a todo is claimed by command, and what that wrote is shown", function()
    local id = text(buffer):match("todo_id=(todo_%x+)")
    local argument = { uri = vim.uri_from_bufnr(buffer), todo_id = id, claimed_by = "ada" }
    local answer
    local function answered(problem, result) answer = { problem = problem, result = result } end
    client:exec_cmd({ title = "Claim", command = "stateward.claimTodo", arguments = { argument } }, { bufnr = buffer }, answered)
    wait_for("the answer", function() return answer end)
    assert(not answer.problem, vim.inspect(answer))
    vim.cmd("silent checktime")
    assert(text(buffer):find("claimed_by=ada", 1, true), text(buffer))
  end)

  check("what somebody else saves is told without a touch", function()
    local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    table.insert(lines, ROW + 1, "- [ ] one more")
    vim.fn.writefile(lines, DOCUMENT .. ".new")
    vim.uv.fs_rename(DOCUMENT .. ".new", DOCUMENT)
    wait_for("its problem", function() return vim.list_contains(codes(buffer), "implicit_todo_ids") end)
    vim.cmd("silent checktime")
    assert(text(buffer):find("one more", 1, true), text(buffer))
  end)

  told.announces_hints = client:supports_method("textDocument/inlayHint")
  if told.announces_hints then
    check("hints are drawn beside what they are about", function()
      wait_for("a hint", function() return #vim.lsp.inlay_hint.get({ bufnr = buffer }) > 0 end)
    end)
  end

  check("a killed daemon is replaced, and nobody has to do anything", function()
    local before, notices = codes(buffer), {}
    local log = vim.lsp.handlers["window/logMessage"]
    vim.lsp.handlers["window/logMessage"] = function(problem, params, ...)
      notices[#notices + 1] = params.message
      return log(problem, params, ...)
    end
    vim.uv.kill(tonumber(vim.env.DAEMON_PID), "sigkill")
    wait_for("the notice", function() return #notices > 0 end)
    assert(notices[1]:find("restarted", 1, true), notices[1])
    same(codes(buffer), before)
    same(vim.lsp.get_clients({ bufnr = buffer })[1].id, client.id)
    local shown = vim.api.nvim_exec2("messages", { output = true }).output
    assert(not shown:find("Error", 1, true), shown)
    -- The new daemon knows the text as it was typed.
    vim.api.nvim_buf_set_lines(buffer, ROW, ROW, false, { "- [ ] two more" })
    wait_for("its problem", function() return #codes(buffer) == #before + 1 end)
  end)

  check("a document with CRLF is told and mended with CRLF", function()
    vim.cmd("silent write")
    vim.cmd.edit(vim.env.CRLF)
    local other = vim.api.nvim_get_current_buf()
    wait_for_codes(other, "implicit_todo_ids")
    same({ vim.bo.fileformat, vim.diagnostic.get(other)[1].end_col }, { "dos", BYTES })
    fix_at(ROW)
    wait_for_codes(other)
    same(text(other):find("\r", 1, true), nil)
    vim.cmd("silent write")
    local bytes = assert(io.open(vim.env.CRLF, "rb")):read("*a")
    same(bytes:gsub("\r\n", ""):find("[\r\n]"), nil)
  end)
end

local ok, problem = xpcall(work, debug.traceback)
if not ok then
  told.failed = ("%s: %s"):format(now or "start", problem)
end
io.stdout:write("\n" .. vim.json.encode(told) .. "\n")
vim.cmd(ok and "qall!" or "cquit!")
