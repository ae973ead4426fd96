;;; figures.el --- Run by figures.py in a real Emacs, which says there what it prints  -*- lexical-binding: t; -*-

;;; Code:

(require 'json)
(defconst kills 3 "Fewer than the bridge takes for a daemon that cannot live.")
(defvar figure (getenv "FIGURE"))
(defvar stateward (list (getenv "PYTHON") "-m" "stateward_daemon"))
(setq vc-handled-backends nil
      create-lockfiles nil
      make-backup-files nil)

(defun tell (found)
  "Print FOUND and end."
  (send-string-to-terminal (concat found "\n"))
  (set-buffer-modified-p nil)
  (kill-emacs 0))

(defun wait-for-problems (count)
  "Wait until the buffer has COUNT problems."
  ;; Batch Emacs has no idle time in which to begin with it.
  (flymake-start)
  (let ((end (+ (float-time) 30)))
    (while (/= (length (flymake-diagnostics)) count)
      (when (> (float-time) end) (error "No %s problems" count))
      (accept-process-output nil 0.01))))

(defun daemon-pid ()
  "Return the number of the daemon's process."
  (with-temp-buffer
    (apply #'call-process (car stateward) nil '(t nil) nil (append (cdr stateward) '("where" "--json")))
    (goto-char (point-min))
    (plist-get (json-parse-buffer :object-type 'plist) :pid)))

(unless (equal figure "bare")
  (require 'package)
  (package-initialize)
  (load (expand-file-name "stateward-mode" (getenv "CLIENT")) nil t)
  (setq stateward-command (append stateward '("lsp")))
  (add-hook 'stateward-mode-hook #'eglot-ensure))
(switch-to-buffer (find-file-noselect (getenv "DOCUMENT")))
(when (equal figure "bare") (tell "{}"))
;; What `eglot-ensure' has put off until the first command is over.
(run-hooks 'post-command-hook)
(flymake-mode 1)
(wait-for-problems 1)
(when (equal figure "start") (tell "{}"))

(let ((said nil) (back nil))
  (advice-add 'message :before
              (lambda (format &rest values) (when format (push (apply #'format-message format values) said))))
  (advice-add 'display-warning :before
              (lambda (_ text &optional level &rest _) (unless (eq level :debug) (push text said))))
  (dotimes (number kills)
    (let ((pid (daemon-pid)) (began (float-time)))
      (signal-process pid 'KILL)
      (goto-char (point-max))
      (insert "- [ ] row\n")
      (eglot--signal-textDocument/didChange)
      (wait-for-problems (+ 2 number))
      (push (* 1000 (- (float-time) began)) back)))
  (tell (json-encode (list (cons 'back_ms (vconcat (nreverse back)))
                           (cons 'said (vconcat (nreverse said)))))))
;;; figures.el ends here
