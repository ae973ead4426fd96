-- `:checkhealth stateward`: what the client rests on, and what to do where something is missing.
local server = require("stateward.server")
local M = {}
local health = vim.health

local PATIENCE_MS = 30000

local function at_the_shell(...)
  local words = vim.list_extend(assert(server.words()), { ... })
  local started, process = pcall(vim.system, words, { text = true, env = vim.lsp.config.stateward.cmd_env })
  return started and process:wait(PATIENCE_MS) or { code = 1, stdout = "", stderr = process }
end

local function check_neovim()
  if vim.fn.has("nvim-0.11") == 0 then
    health.error("Neovim is too old", { "use Neovim 0.11 or later" })
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled("stateward") then
    health.warn("the server is not enabled", { 'vim.lsp.enable("stateward")' })
  end
end

-- Whether there is a program that more can be asked of.
local function check_program()
  if not server.words() then
    health.info("a function of your own connects to the server")
    return false
  end
  local missing = server.missing()
  if missing then
    health.error(missing)
    return false
  end
  local said = at_the_shell("--version")
  local version = said.stdout:match("^stateward (%S+)")
  if said.code ~= 0 or not version then
    health.error("the program does not run: " .. vim.trim(said.stderr))
    return false
  end
  local too_old = server.too_old(version)
  if too_old then
    health.error(too_old)
  else
    health.ok(("stateward %s, %s"):format(version, vim.fn.exepath(server.words()[1])))
  end
  return true
end

local LEVELS = { ok = health.ok, warning = health.warn, fault = health.error }

-- What the doctor of stateward finds of store, socket and daemon.
local function check_daemon()
  local said = at_the_shell("doctor", "--json")
  local readable, found = pcall(vim.json.decode, said.stdout, { luanil = { object = true } })
  if not readable then
    health.error("stateward doctor fails: " .. vim.trim(said.stderr))
    return
  end
  for _, finding in ipairs(found.findings) do
    local text = ("%s: %s"):format(finding.name, finding.text)
    LEVELS[finding.level](text, finding.remedy and { finding.remedy } or nil)
  end
end

local function check_clients()
  local clients = vim.lsp.get_clients({ name = "stateward" })
  if #clients == 0 then
    health.info("no document is served: open ACTIVE_GOAL_STATE.md, or the document of a registered goal")
  end
  for _, client in ipairs(clients) do
    local version = (client.server_info or {}).version
    local documents = vim.tbl_count(client.attached_buffers)
    health.ok(("%s: %d buffers are served by stateward %s"):format(client.root_dir, documents, version or "of no version"))
    local too_old = server.too_old(version)
    if too_old then
      health.error(too_old)
    end
  end
end

function M.check()
  health.start("stateward")
  check_neovim()
  if check_program() then
    check_daemon()
  end
  check_clients()
end

return M
