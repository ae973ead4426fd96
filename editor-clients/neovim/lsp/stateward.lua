-- stateward for Neovim 0.11 and later: put this folder on 'runtimepath', then vim.lsp.enable("stateward").

local group = vim.api.nvim_create_augroup("stateward_lenses", {})

-- What Neovim leaves off unless it is asked; `vim.g.stateward = { lenses = false, hints = false }` leaves it off here too.
local function wants(name)
  return (vim.g.stateward or {})[name] ~= false
end

local LENSES_REFRESH = "workspace/codeLens/refresh"
local enables_lenses = vim.lsp.codelens.enable ~= nil -- since 0.12, which asks for them again by itself

-- By buffer: `false` while an answer is due, `true` where that answer will be old. (`codelens.refresh` of 0.11 forgets
-- what it is told while an answer is due, and would leave old lenses standing.)
local asked = {}

local function ask_for_lenses(client, buffer)
  if asked[buffer] ~= nil then
    asked[buffer] = true
    return
  end
  asked[buffer] = false
  local document = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  client:request("textDocument/codeLens", document, function(problem, lenses, context)
    local again = asked[buffer]
    asked[buffer] = nil
    vim.lsp.codelens.on_codelens(problem, lenses, context)
    if again and vim.api.nvim_buf_is_loaded(buffer) then
      ask_for_lenses(client, buffer)
    end
  end, buffer)
end

local function show_lenses(client, buffer)
  if enables_lenses then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  asked[buffer] = nil
  ask_for_lenses(client, buffer)
  vim.api.nvim_clear_autocmds({ group = group, buffer = buffer })
  vim.api.nvim_create_autocmd("LspNotify", {
    group = group,
    buffer = buffer,
    callback = function(told)
      if told.data.method == "textDocument/didChange" or told.data.method == "textDocument/didOpen" then
        ask_for_lenses(client, buffer)
      end
    end,
  })
end

local function on_attach(client, buffer)
  if wants("lenses") then
    show_lenses(client, buffer)
  end
  if wants("hints") and client:supports_method("textDocument/inlayHint") then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
end

-- The server says when lenses are old, by what an agent or a lens did, say: the file may be another one as well.
-- (Neovim 0.11 has no answer of its own, and later ones ask for the lenses alone.)
local function on_lenses_refresh(problem, result, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  for buffer in pairs(client.attached_buffers) do
    -- What somebody types meanwhile stays, and no question interrupts it.
    if vim.api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
      vim.cmd.checktime(buffer)
    end
    if not enables_lenses and wants("lenses") then
      ask_for_lenses(client, buffer)
    end
  end
  return enables_lenses and vim.lsp.handlers[LENSES_REFRESH](problem, result, context) or vim.NIL
end

-- The nearest of both counts: a list would look for one everywhere before the other.
local function begins_project(name)
  return name == ".git" or name == "stateward.toml"
end

-- Calls back where a document is one that is served. Other Markdown files are none of its business.
local function if_served(path, serve)
  if vim.fs.basename(path) ~= "ACTIVE_GOAL_STATE.md" then
    require("stateward.goals").if_registered(path, serve)
    return
  end
  local server = require("stateward.server")
  local missing = server.missing()
  if missing then
    server.tell_once(missing)
  else
    serve()
  end
end

-- Neovim shows each refusal. It asks for hints and lenses also when it has told a server to leave, and what a daemon was
-- asked before it was killed is answered by the bridge, as something that may be asked again.
local function ask_with_care(client)
  local request = client.request
  client.request = function(self, method, params, handler, buffer)
    if self:is_stopped() then
      return false
    end
    handler = handler or self.handlers[method] or vim.lsp.handlers[method]
    if not handler or not vim.startswith(method, "textDocument/") then
      return request(self, method, params, handler, buffer)
    end
    return request(self, method, params, function(problem, ...)
      if problem and type(problem.data) == "table" and problem.data.retryable and not self:is_stopped() then
        request(self, method, params, handler, buffer)
      else
        handler(problem, ...)
      end
    end, buffer)
  end
end

local function on_init(client)
  ask_with_care(client)
  local server = require("stateward.server")
  local too_old = server.too_old((client.server_info or {}).version)
  if too_old then
    server.tell_once(too_old)
  end
end

return {
  cmd = { "stateward", "lsp" },
  filetypes = { "markdown" },
  capabilities = vim.tbl_deep_extend("force", vim.lsp.protocol.make_client_capabilities(), {
    workspace = {
      textDocumentContent = vim.empty_dict(),
      codeLens = not enables_lenses and { refreshSupport = true } or nil,
    },
    -- Neovim 0.11 fails on an answer about changes that comes after it has begun anew.
    textDocument = { semanticTokens = { requests = { full = true } } },
  }),
  handlers = {
    ["workspace/textDocumentContent/refresh"] = function(...)
      return require("stateward").refresh(...)
    end,
    [LENSES_REFRESH] = on_lenses_refresh,
    -- No method of LSP: told to whoever browses the state.
    state_changed = function()
      require("stateward.browser").refresh()
    end,
  },
  on_init = on_init,
  -- Without the call no client is started.
  -- One client for all goals of a project: the server tells it of those that are not open, too.
  root_dir = function(buffer, on_dir)
    local path = vim.api.nvim_buf_get_name(buffer)
    if_served(path, function()
      if vim.api.nvim_buf_is_loaded(buffer) then
        on_dir(vim.fs.root(path, begins_project) or vim.fs.dirname(path))
      end
    end)
  end,
  on_attach = on_attach,
}
