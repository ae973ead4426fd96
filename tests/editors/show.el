;;; show.el --- Run by real_editors.py: sets an Emacs up as the README does, for a picture  -*- lexical-binding: t; -*-

;;; Code:

(require 'package)
(package-initialize)
(load (expand-file-name "stateward-mode" (getenv "CLIENT")) nil t)
(setq stateward-command (list (getenv "PYTHON") "-m" "stateward_daemon" "lsp")
      inhibit-startup-screen t
      vc-handled-backends nil)
(add-hook 'stateward-mode-hook #'eglot-ensure)
(menu-bar-mode -1)
;;; show.el ends here
