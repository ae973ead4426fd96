-- Run by test_neovim_commands.py: the commands of the client, and which documents it serves.
--
-- $FOLDER has ACTIVE_GOAL_STATE.md of the goal `release`, $PLAN is the document of a goal under another name, and
-- README.md is that of none. In the state there is cwd.lazy.plan.
package.path = vim.env.STEPS .. "/?.lua;" .. package.path
local steps = require("neovim_steps")
local check, same, text, wait_for = steps.check, steps.same, steps.text, steps.wait_for

local function served(buffer)
  return #vim.lsp.get_clients({ bufnr = buffer, name = "stateward" }) > 0
end

local function go_to(words)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search(words, "cW") > 0, words .. " is not in " .. text())
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "mx", false)
end

local function wait_for_text(words)
  wait_for(words, function() return text():find(words, 1, true) end)
end

steps.run(function()
  local folder = vim.env.FOLDER

  check("the document of a goal is served whatever its name is, and no other", function()
    vim.cmd.edit(folder .. "/README.md")
    local other = vim.api.nvim_get_current_buf()
    vim.cmd.edit(vim.fn.fnameescape(vim.env.PLAN))
    local plan = vim.api.nvim_get_current_buf()
    wait_for("the server", function() return served(plan) end)
    steps.wait_for_codes(plan, "implicit_todo_ids")
    same({ served(other), #vim.lsp.get_clients() }, { false, 1 })
  end)

  check("a goal that was registered meanwhile is asked of the server that runs", function()
    steps.agent("goal", "register", folder .. "/later.md", "--goal-id", "later")
    vim.cmd.edit(folder .. "/later.md")
    local later = vim.api.nvim_get_current_buf()
    wait_for("the server", function() return served(later) end)
    same(#vim.lsp.get_clients(), 1)
  end)

  vim.cmd.edit(folder .. "/ACTIVE_GOAL_STATE.md")
  local goal = vim.api.nvim_get_current_buf()
  wait_for("the server", function() return served(goal) end)
  local client = vim.lsp.get_clients({ bufnr = goal })[1]
  wait_for("its answer", function() return client.initialized end)

  check("words and paths are completed", function()
    same(vim.fn.getcompletion("Stateward c", "cmdline"), { "claim", "complete", "cwd" })
    same(vim.fn.getcompletion("Stateward cwd.", "cmdline"), { "cwd.lazy" })
    same(vim.fn.getcompletion("Stateward cwd.lazy.p", "cmdline"), { "cwd.lazy.plan" })
  end)

  check("keys are browsed a level at a time", function()
    vim.cmd("Stateward")
    wait_for_text("- cwd")
    same(text():find("plan", 1, true), nil)
    go_to("lazy")
    press("<CR>")
    wait_for_text("plan")
    -- Closed and opened: what is below comes and goes, and no value ever came.
    go_to("lazy")
    press("<CR>")
    wait_for("the level to close", function() return not text():find("plan", 1, true) end)
    go_to("lazy")
    press("<CR>")
    wait_for_text("plan")
    same({ text():find("carefully", 1, true), vim.bo.modifiable }, { nil, false })
  end)

  check("the browser follows the state", function()
    steps.agent("patch", '{"cwd": {"lazy": {"fresh": [1, 2]}}}', "--cwd", folder)
    wait_for_text("fresh")
  end)

  check("a value is opened beside the keys", function()
    go_to("plan")
    press("o")
    same(vim.api.nvim_buf_get_name(0), "stateward:/cwd/lazy/plan.json")
    wait_for_text("carefully")
    vim.cmd("Stateward")
    same(vim.fn.bufname(), "stateward-browser")
    press("q")
    same(vim.fn.bufnr("stateward-browser"), -1)
  end)

  check("a todo is claimed, completed, and its receipt is shown", function()
    vim.cmd.buffer(goal)
    local said = steps.listen()
    go_to("Rehearse")
    vim.cmd("Stateward claim")
    wait_for_text("claimed_by=")
    go_to("Rehearse")
    vim.cmd("Stateward complete")
    wait_for_text("- [x] [P1] Rehearse")
    go_to("Rehearse")
    vim.cmd("Stateward receipt")
    said("was accepted at")
    go_to("Agent Todo")
    vim.cmd("Stateward claim")
    said("no todo that can be claimed on this line")
  end)

  check("a restart serves every document anew", function()
    vim.cmd("Stateward restart")
    wait_for("another server", function()
      local found = vim.lsp.get_clients({ bufnr = goal, name = "stateward" })[1]
      return found and found.id ~= client.id
    end)
    steps.wait_for_codes(goal, "implicit_todo_ids")
  end)

  check("who is leaving is asked nothing", function()
    local asked = {}
    vim.api.nvim_create_autocmd("LspRequest", {
      callback = function(event) asked[#asked + 1] = event.data.request.method end,
    })
    local leaving = vim.lsp.get_clients({ bufnr = goal, name = "stateward" })[1]
    leaving:stop()
    leaving.handlers["workspace/codeLens/refresh"](nil, nil, { client_id = leaving.id })
    vim.lsp.inlay_hint.enable(false, { bufnr = goal })
    vim.lsp.inlay_hint.enable(true, { bufnr = goal })
    same(asked, {})
    wait_for("the end", function() return not served(goal) end)
  end)

  check("health tells of program, daemon and documents", function()
    vim.cmd("Stateward restart")
    wait_for("the server", function() return served(goal) end)
    local again = vim.lsp.get_clients({ bufnr = goal, name = "stateward" })[1]
    wait_for("its answer", function() return again.initialized end)
    vim.cmd("checkhealth stateward")
    wait_for_text("buffers are served by stateward")
    local report = text()
    assert(report:find("stateward %d+%.%d+%.%d+,") and report:find("store: ", 1, true), report)
    same(report:find("ERROR", 1, true), nil)
  end)

  check("a program that is too old is told in one line", function()
    local server = require("stateward.server")
    same(server.too_old(server.NEEDS), nil)
    server.NEEDS = "99.0.0"
    local said = steps.listen()
    vim.cmd.buffer(goal)
    vim.cmd("Stateward restart")
    said(" is too old, 99.0.0 is needed; install it, then run: stateward daemon restart")
  end)

  check("a program that is missing is told in one line, once", function()
    vim.lsp.config("stateward", { cmd = { "no-such-stateward", "lsp" } })
    local said = steps.listen()
    vim.cmd("Stateward restart")
    vim.cmd.edit(folder .. "/another/ACTIVE_GOAL_STATE.md")
    vim.cmd.edit(folder .. "/README.md")
    same(said("no-such-stateward"), {
      "stateward: there is no program no-such-stateward; install it, then :Stateward restart",
    })
  end)

  check("the help has its tags", function()
    local copy = vim.fn.tempname()
    vim.fn.mkdir(copy)
    vim.uv.fs_copyfile(vim.env.CLIENT .. "/doc/stateward.txt", copy .. "/stateward.txt")
    vim.cmd.helptags(copy)
    local tags = vim.fn.readfile(copy .. "/tags")
    for _, tag in ipairs({ "stateward", ":Stateward", "stateward-browser", "stateward-settings", "stateward-health" }) do
      assert(vim.iter(tags):any(function(row) return vim.startswith(row, tag .. "\t") end), "no tag " .. tag)
    end
    local help = table.concat(vim.fn.readfile(copy .. "/stateward.txt"), "\n")
    for linked in help:gmatch("|(stateward[%w-]*)|") do
      assert(vim.iter(tags):any(function(row) return vim.startswith(row, linked .. "\t") end), "no tag " .. linked)
    end
  end)
end)
