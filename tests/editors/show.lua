-- Run by real_editors.py: sets a Neovim up as the README does, for a picture.
vim.opt.runtimepath:prepend(vim.env.CLIENT)
vim.lsp.config("stateward", { cmd = { vim.env.PYTHON, "-m", "stateward_daemon", "lsp" } })
vim.lsp.enable("stateward")
vim.diagnostic.config({ virtual_text = true })
