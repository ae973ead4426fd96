-- Run by test_neovim_state.py in a real Neovim: goes from a reference to its value, and prints what a person would see.
local seen = {}

local function wait_for(what, condition)
  assert(vim.wait(20000, condition, 20), "timed out waiting for " .. what)
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function shows(uri, passage)
  wait_for(passage .. " in " .. uri, function()
    return vim.api.nvim_buf_get_name(0) == uri and text():find(passage, 1, true) ~= nil
  end)
  return text()
end

local ok, problem = pcall(function()
  vim.cmd("filetype plugin on")
  vim.opt.runtimepath:prepend(vim.env.CLIENT)
  vim.cmd.runtime("plugin/stateward.lua")
  vim.lsp.config("stateward", { cmd = { vim.env.PYTHON, "-m", "stateward_daemon", "lsp" } })
  vim.lsp.enable("stateward")
  vim.cmd.edit(vim.env.DOCUMENT)
  local goal = vim.api.nvim_get_current_buf()
  wait_for("the server", function() return #vim.lsp.get_clients({ bufnr = goal }) > 0 end)
  local client = vim.lsp.get_clients({ bufnr = goal })[1]
  wait_for("its capabilities", function() return client.initialized end)

  -- What Neovim's plugin for Markdown would take.
  local function meant()
    return vim.bo.omnifunc == "v:lua.vim.lsp.omnifunc" and vim.fn.maparg("gO", "n", false, true).desc == "vim.lsp.buf.document_symbol()"
  end
  wait_for("completion and outline", meant)
  seen.root = client.root_dir

  -- A reference in the text, then one in the value.
  vim.fn.search("cwd.lazy.notes")
  vim.lsp.buf.definition()
  seen.plane = shows("stateward:/cwd/lazy.json", '"$ref"')
  seen.filetype = vim.bo.filetype
  seen.modifiable = vim.bo.modifiable
  wait_for("the cursor", function() return vim.api.nvim_get_current_line():find('"notes"', 1, true) ~= nil end)
  vim.fn.search("cwd.lazy.plan")
  vim.lsp.buf.definition()
  wait_for("the cursor", function() return vim.api.nvim_get_current_line():find('"plan"', 1, true) ~= nil end)
  seen.followed = vim.api.nvim_get_current_line()

  -- An agent changes what is shown.
  io.stdout:write("change\n")
  shows("stateward:/cwd/lazy.json", "stop")
  seen.changed = true

  vim.cmd("Stateward cwd.lazy")
  seen.keys = shows("stateward:/cwd/lazy.json?keys", '"plan": "object"')
  vim.cmd("Stateward! cwd.lazy.plan")
  seen.value = shows("stateward:/cwd/lazy/plan.json", "stop")

  vim.cmd.buffer(goal)
  io.stdout:write("claim\n")
  wait_for("the text that an agent wrote", function() return text():find("claimed_by=codex", 1, true) ~= nil end)
  seen.meant_again = meant()
  client:exec_cmd({ title = "", command = "stateward.showProjection", arguments = { { uri = vim.uri_from_bufnr(goal) } } })
  seen.projection = shows("stateward:/projection" .. vim.env.DOCUMENT .. ".json", "schema_version")
end)
seen.ok, seen.problem = ok, problem
io.stdout:write("\n" .. vim.json.encode(seen) .. "\n")
vim.cmd(ok and "qall!" or "cquit!")
