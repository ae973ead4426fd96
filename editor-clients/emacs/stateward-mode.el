;;; stateward-mode.el --- Goal documents with the stateward language server  -*- lexical-binding: t; -*-

;; Author: The stateward authors
;; URL: https://github.com/stateward/stateward
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: tools, languages
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A mode for files named ACTIVE_GOAL_STATE.md, and an entry for them in `eglot-server-programs':
;;
;;   (require 'stateward-mode)
;;   (add-hook 'stateward-mode-hook #'eglot-ensure)
;;
;; Everything else is in the daemon that `stateward lsp' finds or starts.

;;; Code:

(require 'eglot)
(require 'outline)

(defgroup stateward nil
  "Goal documents that agents and people share."
  :group 'tools)

(defcustom stateward-command '("stateward" "lsp")
  "The language server: a program and its arguments."
  :type '(repeat string))

(defcustom stateward-session nil
  "The session that Emacs works in, nil for none."
  :type '(choice (const :tag "None" nil) string))

(defcustom stateward-agent nil
  "Who claims and completes todos, nil for the login name."
  :type '(choice (const :tag "Login name" nil) string))

(defvar stateward-font-lock-keywords
  '(("^#+ .*" . 'outline-1)
    ("^\\s-*- \\(\\[[ xX-]\\]\\)" 1 'font-lock-keyword-face)
    ("^\\s-*- \\[[ xX-]\\] \\(\\[P[0-9]\\]\\)" 1 'font-lock-constant-face)
    ("<!--.*?-->" . 'font-lock-comment-face))
  "What is told apart by its looks.")

(defvar stateward-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-t") #'stateward-todo)
    (define-key map (kbd "C-c C-q") #'stateward-quickfix)
    (define-key map (kbd "C-c C-f") #'stateward-fix-all)
    (define-key map (kbd "C-c C-n") #'flymake-goto-next-error)
    (define-key map (kbd "C-c C-p") #'flymake-goto-prev-error)
    (define-key map (kbd "C-c C-l") #'flymake-show-buffer-diagnostics)
    map)
  "Keys of `stateward-mode'.")

;;;###autoload
(define-derived-mode stateward-mode text-mode "Goal"
  "Mode for goal documents.
What agents do to the file is shown as soon as it happens."
  (setq-local font-lock-defaults '(stateward-font-lock-keywords t)
              comment-start "<!-- "
              comment-end " -->"
              outline-regexp "#+ ")
  (auto-revert-mode 1))

;;;###autoload
(add-to-list 'auto-mode-alist '("/ACTIVE_GOAL_STATE\\.md\\'" . stateward-mode))

;; The document is Markdown for the server.
(put 'stateward-mode 'eglot-language-id "markdown")

(defun stateward-contact (&rest _)
  "Return how Eglot starts the server, and what the server is told."
  (let ((who (append (and stateward-session (list :session stateward-session))
                     (and stateward-agent (list :agent stateward-agent)))))
    (append stateward-command
            (and who (list :initializationOptions (list :stateward who))))))

(add-to-list 'eglot-server-programs '(stateward-mode . stateward-contact))

(defun stateward--act (kind from to)
  "Offer the actions of KIND between FROM and TO, or do the only one.
The commands of Eglot 1.9 for one kind of action do nothing."
  (eglot-code-actions from to kind t))

(defun stateward-todo ()
  "Claim or complete the todo at point, or show its receipt."
  (interactive)
  (stateward--act "stateward.todo" (point) (point)))

(defun stateward-quickfix ()
  "Mend the problem at point."
  (interactive)
  (stateward--act "quickfix" (point) (point)))

(defun stateward-fix-all ()
  "Make all fixes that are safe."
  (interactive)
  (stateward--act "source.fixAll.stateward" (point-min) (point-max)))

(provide 'stateward-mode)
;;; stateward-mode.el ends here
