;;; emacs.el --- Run by real_editors.py in a real Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Works as a person does, and prints what held as one line of JSON.
;; $FOLDER and the documents in it are those of neovim.lua.

;;; Code:

(require 'package)
(package-initialize)
(require 'cl-lib)
(require 'json)
(load (expand-file-name "stateward-mode" (getenv "CLIENT")) nil t)
(setq stateward-agent "ada"
      stateward-command (list (getenv "PYTHON") "-m" "stateward_daemon" "lsp")
      eglot-sync-connect 30
      eglot-confirm-server-initiated-edits nil
      vc-handled-backends nil
      create-lockfiles nil
      make-backup-files nil
      auto-revert-verbose nil
      ;; Batch Emacs reads no events, those of files included.
      auto-revert-use-notify nil
      auto-revert-interval 0.2
      ;; A key, not the mouse, is what is pressed here.
      last-nonmenu-event t)
(add-hook 'stateward-mode-hook #'stateward-ensure)

(defvar told (list (cons 'editor (format "Emacs %s, eglot" emacs-version))))
(defvar passed nil)
(defvar now "start")

(defmacro check (name &rest body)
  "Note that NAME holds when BODY has run."
  (declare (indent 1))
  `(progn (setq now ,name) ,@body (push ,name passed)))

(defun wait-for (what condition)
  "Wait until CONDITION gives a value, and return it; WHAT is what it is."
  (let ((end (+ (float-time) 30)) found)
    (while (and (not (setq found (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or found (error "Timed out waiting for %s:\n%s" what (buffer-string)))))

(defun same (found expected)
  "Fail unless FOUND is EXPECTED."
  (unless (equal found expected) (error "Found %S, not %S" found expected)))

(defun has (word)
  "Return whether WORD is in the buffer."
  (save-excursion (goto-char (point-min)) (search-forward word nil t)))

(defun to-row ()
  "Go into the row without an id."
  (goto-char (point-min))
  (forward-line (string-to-number (getenv "ROW")))
  (forward-char 6))

(defun problems ()
  "Return the diagnostics of the buffer; batch Emacs has no idle time in which to ask for them."
  (flymake-start)
  (flymake-diagnostics))

(defun wait-for-problems (count)
  "Wait until the buffer has COUNT problems, and return them."
  (wait-for (format "%s problems" count)
            (lambda () (let ((found (problems))) (and (= (length found) count) (or found t))))))

(defun send ()
  "Send what was typed, for which Emacs waits until nobody types."
  (eglot--signal-textDocument/didChange))

(defun open (path)
  "Show the document at PATH and let Eglot have it."
  (switch-to-buffer (find-file-noselect path))
  ;; What `eglot-ensure' has put off until the first command is over.
  (run-hooks 'post-command-hook)
  (wait-for "the server" #'eglot-managed-p)
  (flymake-mode 1))

(defun should-error-of (function)
  "Return the error that FUNCTION signals."
  (condition-case problem
      (progn (funcall function) (error "It did not fail"))
    (user-error problem)))

(defun text ()
  "Return what the buffer says."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun press (key)
  "Press KEY in the buffer that is shown."
  (call-interactively (key-binding (kbd key))))

(defun to-line (words)
  "Go to the line that has WORDS."
  (goto-char (point-min))
  (search-forward words)
  (beginning-of-line))

(defun browse ()
  "Browse the state as a person does."
  (save-window-excursion
    (call-interactively (lookup-key stateward-mode-map (kbd "C-c C-s")))
    (same (text) "+ effective  object\n+ global  object\n+ cwd  object\n+ session  object\n")
    (dolist (line '("cwd" "lazy" "rules")) (to-line line) (press "RET"))
    (same (buffer-substring-no-properties (progn (to-line "- cwd") (point)) (progn (to-line "+ session") (point)))
          (concat "- cwd  object\n  - lazy  object\n    + memory  array\n    - rules  object\n"
                  "        deploy  string\n"))
    (same (has "Friday") nil)
    (to-line "deploy")
    (press "^")
    (same (stateward--path) "cwd.lazy.rules")
    (to-line "deploy")
    (press "RET")
    (same (list (buffer-name) (text) buffer-read-only)
          '("*stateward cwd.lazy.rules.deploy*" "\"never on a Friday\"\n" t))
    (let ((default-directory (file-name-as-directory (getenv "FOLDER"))))
      (same 0 (call-process (getenv "PYTHON") nil nil nil "-m" "stateward_daemon" "patch"
                            "{\"cwd\": {\"lazy\": {\"rules\": {\"deploy\": \"on Mondays\", \"rollback\": \"rehearsed\"}}}}")))
    (wait-for "the new value" (lambda () (has "on Mondays")))
    (with-current-buffer "*stateward state*"
      (wait-for "the new key" (lambda () (has "rollback  string")))
      (to-line "memory") (press "TAB") (to-line "[1]") (press "RET")
      (wait-for "what an element has" (lambda () (has "two  number")))
      (to-line "lazy") (press "TAB")
      (same (has "memory") nil)
      (to-line "session") (press "RET")
      (unless (has "session") (error "%s" (buffer-string))))
    (same (car (should-error-of (lambda () (stateward-read-state "cwd.lazy.nothing")))) 'user-error)
    (same (stateward--complete-path "cwd.lazy.ru") '("cwd.lazy.memory" "cwd.lazy.rules"))))

(defun elsewhere (folder)
  "Check that problems stand where they are in a document below FOLDER."
  (make-directory folder t)
  (let ((path (expand-file-name "ACTIVE_GOAL_STATE.md" folder)))
    (copy-file (getenv "CRLF") path)
    (open path)
    (let ((found (car (wait-for-problems 1))))
      (to-row)
      (same (list (flymake-diagnostic-beg found) (flymake-diagnostic-end found))
            (list (line-beginning-position) (line-end-position))))
    (to-row)
    (stateward-quickfix)
    (send)
    (wait-for-problems 0)
    (set-buffer-modified-p nil)))

(defun work ()
  "Do what a person does."
  (check "another Markdown file is left alone"
    (find-file (expand-file-name "README.md" (getenv "FOLDER")))
    (run-hooks 'post-command-hook)
    (same (list (derived-mode-p 'stateward-mode) (eglot-current-server)) '(nil nil)))

  (let ((path (expand-file-name "ACTIVE_GOAL_STATE.md" (getenv "FOLDER"))) (began (float-time)))
    (check "problems are shown where they are"
      (open path)
      (same major-mode 'stateward-mode)
      (let ((found (car (wait-for-problems 1))))
        (push (cons 'first_diagnostic_ms (round (* 1000 (- (float-time) began)))) told)
        (to-row)
        (same (list (flymake-diagnostic-beg found) (flymake-diagnostic-end found))
              (list (line-beginning-position) (line-end-position)))
        (unless (string-match-p "implicit_todo_ids" (flymake-diagnostic-text found))
          (error "It says %s" (flymake-diagnostic-text found)))))

    (check "hover tells about the row and what is wrong there"
      (to-row)
      (let (hover)
        (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
        (wait-for "the hover" (lambda () hover))
        (unless (and (string-match-p "status: open" hover) (string-match-p "todo_" hover))
          (error "It says %s" hover))))

    (check "what is typed is told before it is saved"
      (to-row)
      (end-of-line)
      (insert "\n  <!-- loopx:todo todo_id=todo_typed -->")
      (send)
      (wait-for-problems 0)
      (delete-region (line-end-position 0) (line-end-position))
      (send)
      (wait-for-problems 1))

    (check "settings of Emacs count at once"
      (setq-default eglot-workspace-configuration '(:stateward (:rules (:implicit_todo_ids "off"))))
      (eglot-signal-didChangeConfiguration (eglot-current-server))
      (wait-for-problems 0)
      (setq-default eglot-workspace-configuration nil)
      (eglot-signal-didChangeConfiguration (eglot-current-server))
      (wait-for-problems 1))

    (check "a quick fix is applied, and its problem goes"
      (to-row)
      (call-interactively (lookup-key stateward-mode-map (kbd "C-c C-q")))
      (send)
      (wait-for-problems 0)
      (forward-line)
      (unless (looking-at-p "  <!-- loopx:todo todo_id=todo_[0-9a-f]+ -->") (error "%s" (buffer-string)))
      (save-buffer))

    (check "a todo is claimed by command, and what that wrote is shown"
      (goto-char (point-min))
      (search-forward "Rehearse")
      (stateward-claim)
      (wait-for "the claim" (lambda () (has "claimed_by=ada")))
      (search-forward "Rehearse")
      (stateward-receipt)
      (goto-char (point-min))
      (same (car (should-error-of #'stateward-complete)) 'user-error))

    (check "a todo is completed by key"
      (to-row)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_ items &rest _) (car (cl-find-if (lambda (item) (string-prefix-p "Complete" (car item))) items)))))
        (call-interactively (lookup-key stateward-mode-map (kbd "C-c C-t"))))
      (wait-for "the mark" (lambda () (has "- [x] "))))

    (check "the state is browsed level by level, and values are shown when they are opened"
      (browse))

    (check "the projection is shown, with what is not saved"
      (save-window-excursion
        (stateward-show-projection)
        (same (buffer-name) "*stateward ACTIVE_GOAL_STATE.md*")
        (unless (and (has "next_action") (has "Go on.")) (error "%s" (buffer-string)))))

    (check "everything is read anew on demand"
      (stateward-restart)
      (wait-for-problems 0))

    (check "what somebody else saves is told without a touch"
      (let ((text (buffer-string)) (draft (concat path ".new")))
        (with-temp-file draft (insert text "- [ ] one more\n"))
        (rename-file draft path t))
      (wait-for "its text" (lambda () (has "one more")))
      (wait-for-problems 1))

    (check "a killed daemon is replaced, and nobody has to do anything"
      (let ((server (eglot-current-server)))
        (call-process "kill" nil nil nil "-9" (getenv "DAEMON_PID"))
        (goto-char (point-max))
        (insert "- [ ] two more\n")
        (send)
        (wait-for-problems 2)
        (unless (eq server (eglot-current-server)) (error "It was started again"))
        (save-buffer))))

  (check "a folder with spaces and Chinese in its name is no hindrance"
    (elsewhere (expand-file-name "../项目 一 of two" (getenv "FOLDER"))))

  (check "a folder that is a link is no hindrance"
    (let ((link (expand-file-name "../link" (getenv "FOLDER"))))
      (make-directory (expand-file-name "../linked" (getenv "FOLDER")))
      (make-symbolic-link (expand-file-name "../linked" (getenv "FOLDER")) link)
      (elsewhere link)))

  (check "a document with CRLF is told and mended with CRLF"
    (let ((path (getenv "CRLF")))
      (open path)
      (wait-for-problems 1)
      (to-row)
      (stateward-quickfix)
      (send)
      (wait-for-problems 0)
      (same (has "\r") nil)
      (save-buffer)
      (with-temp-buffer
        (set-buffer-multibyte nil)
        (insert-file-contents-literally path)
        (while (search-forward "\r\n" nil t) (replace-match ""))
        (goto-char (point-min))
        (same (re-search-forward "[\r\n]" nil t) nil)))))

(condition-case problem
    (work)
  (error (push (cons 'failed (format "%s: %s" now (error-message-string problem))) told)))
(push (cons 'passed (vconcat (nreverse passed))) told)
(princ (concat "\n" (json-encode told) "\n"))
(dolist (buffer (buffer-list))
  (with-current-buffer buffer (set-buffer-modified-p nil)))
(kill-emacs (if (assq 'failed told) 1 0))
;;; emacs.el ends here
