-- The buffers of virtual documents: what the server says of a URI.
local M = {}

local METHOD = "workspace/textDocumentContent"
local PATIENCE_MS = 5000

local function fill(buffer, text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text:gsub("\n$", ""), "\n"))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

-- Called when such a buffer is read.
function M.open(buffer)
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = "json"
  local client = vim.lsp.get_clients({ name = "stateward" })[1]
  if not client then
    vim.notify("stateward: open a goal document first", vim.log.levels.WARN)
    return
  end
  -- Whoever opens it puts the cursor somewhere at once, so its text has to be there.
  local answer, problem = client:request_sync(METHOD, { uri = vim.api.nvim_buf_get_name(buffer) }, PATIENCE_MS, buffer)
  fill(buffer, answer and (answer.err and answer.err.message or answer.result.text) or problem)
  -- So that references in a value can be followed.
  vim.lsp.buf_attach_client(buffer, client.id)
end

-- The server says that a document has another text now.
function M.refresh(_, params, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if client and vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) == params.uri then
      client:request(METHOD, { uri = params.uri }, function(refusal, answer)
        if vim.api.nvim_buf_is_loaded(buffer) then
          fill(buffer, refusal and refusal.message or answer.text)
        end
      end, buffer)
    end
  end
  return vim.NIL
end

return M
