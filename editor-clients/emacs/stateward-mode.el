;;; stateward-mode.el --- Goal documents with the stateward language server  -*- lexical-binding: t; -*-

;; Author: The stateward authors
;; URL: https://github.com/stateward/stateward
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: tools, languages
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A mode for files named ACTIVE_GOAL_STATE.md, an entry for them in `eglot-server-programs', and a
;; buffer in which the state is browsed:
;;
;;   (require 'stateward-mode)
;;   (add-hook 'stateward-mode-hook #'stateward-ensure)
;;
;; Everything else is in the daemon that `stateward lsp' finds or starts.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'outline)
(require 'seq)
(require 'url-util)

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
    (define-key map (kbd "C-c C-c") #'stateward-claim)
    (define-key map (kbd "C-c C-d") #'stateward-complete)
    (define-key map (kbd "C-c C-r") #'stateward-receipt)
    (define-key map (kbd "C-c C-s") #'stateward-browse)
    (define-key map (kbd "C-c C-v") #'stateward-read-state)
    (define-key map (kbd "C-c C-j") #'stateward-show-projection)
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

;;; The server

(defconst stateward-needed-version "0.1.0"
  "The oldest `stateward' that this client works with.")

(defclass stateward-server (eglot-lsp-server) ()
  :documentation "`stateward lsp', which is asked about state as well.")

(defvar stateward--servers nil "Servers that were started, some of which may have ended.")

(defun stateward--missing ()
  "Return why there is no server, and what to do, or nil."
  (let ((program (car stateward-command)))
    (unless (executable-find program)
      (format "there is no %s: install it with `pip install stateward', or set `stateward-command'" program))))

(defun stateward-contact (&rest _)
  "Return how Eglot starts the server, and what the server is told."
  (when-let ((why (stateward--missing))) (user-error "stateward: %s" why))
  (let ((who (append (and stateward-session (list :session stateward-session))
                     (and stateward-agent (list :agent stateward-agent)))))
    (cons 'stateward-server
          (append stateward-command
                  (and who (list :initializationOptions (list :stateward who)))))))

(add-to-list 'eglot-server-programs '(stateward-mode . stateward-contact))

;;;###autoload
(defun stateward-ensure ()
  "Start the server for this document, or say why there is none."
  (if-let ((why (stateward--missing)))
      (display-warning 'stateward why :error)
    (eglot-ensure)))

(defun stateward--connected (server)
  "Note that SERVER has started, and say so if it is too old."
  (when (cl-typep server 'stateward-server)
    (setq stateward--servers (cons server (seq-filter #'jsonrpc-running-p stateward--servers)))
    (let ((version (plist-get (slot-value server 'server-info) :version)))
      (when (or (not version) (ignore-errors (version< version stateward-needed-version)))
        (display-warning
         'stateward
         (format "stateward %s is too old, this client needs %s: `pip install --upgrade stateward', then M-x eglot-reconnect"
                 (or version "of an unknown version") stateward-needed-version)
         :error)))))

(add-hook 'eglot-connect-hook #'stateward--connected)

(defvar-local stateward--asked nil "The server that has told what this buffer shows.")

(defun stateward--server ()
  "Return the server of this buffer, or else any that runs."
  (or (seq-find (lambda (server) (and (cl-typep server 'stateward-server) (jsonrpc-running-p server)))
                (append (list stateward--asked (eglot-current-server)) stateward--servers))
      (user-error "Open a goal document first, for its server is asked")))

(defun stateward--ask (method &rest params)
  "Return what the server answers to METHOD with PARAMS."
  (condition-case refused
      (jsonrpc-request (stateward--server) method params)
    (jsonrpc-error (user-error "stateward: %s" (alist-get 'jsonrpc-error-message (cdr-safe (cdr refused)))))))

(cl-defmethod eglot-handle-notification :around
  ((server stateward-server) (method (eql textDocument/publishDiagnostics)) &rest params)
  "Let SERVER tell METHOD with PARAMS whose URI Eglot 1.17 takes for its buffer's.
Eglot leaves what is escaped in it as bytes, and compares them with text."
  (apply #'cl-call-next-method server method
         (plist-put params :uri
                    (replace-regexp-in-string
                     "\\(?:%[89A-F][0-9A-F]\\)+"
                     (lambda (escaped)
                       (save-match-data (decode-coding-string (url-unhex-string escaped) 'utf-8)))
                     (plist-get params :uri) t t))))

(defun stateward-restart ()
  "Let the server read everything anew, and start it if there is none."
  (interactive)
  (if (cl-typep (eglot-current-server) 'stateward-server)
      (let ((answer (stateward--ask :workspace/executeCommand :command "stateward.restart" :arguments [])))
        (message "stateward: %s documents were read anew" (plist-get answer :documents)))
    (stateward-ensure)))

;;; Todos and problems

(defun stateward--act (kind from to)
  "Offer the actions of KIND between FROM and TO, or do the only one.
The commands of Eglot 1.9 for one kind of action do nothing."
  (eglot-code-actions from to kind t))

(defun stateward-todo ()
  "Claim or complete the todo at point, or show its receipt."
  (interactive)
  (stateward--act "stateward.todo" (point) (point)))

(defun stateward--todo-command (command what)
  "Run the COMMAND that is offered for the todo at point.
WHAT says what there is no todo for, where none is offered."
  (let* ((offered (mapcar (lambda (action) (plist-get action :command))
                          (eglot-code-actions (point) (point) "stateward.todo")))
         (found (seq-find (lambda (each) (equal (plist-get each :command) command)) offered)))
    (unless found (user-error "There is no todo here to %s" what))
    (stateward--ask :workspace/executeCommand :command command :arguments (plist-get found :arguments))))

(defun stateward-claim ()
  "Claim the todo at point."
  (interactive)
  (stateward--todo-command "stateward.claimTodo" "claim"))

(defun stateward-complete ()
  "Complete the todo at point."
  (interactive)
  (stateward--todo-command "stateward.completeTodo" "complete"))

(defun stateward-receipt ()
  "Show the receipt of the last operation on the todo at point."
  (interactive)
  (stateward--todo-command "stateward.showReceipt" "show a receipt of"))

(defun stateward-quickfix ()
  "Mend the problem at point."
  (interactive)
  (stateward--act "quickfix" (point) (point)))

(defun stateward-fix-all ()
  "Make all fixes that are safe."
  (interactive)
  (stateward--act "source.fixAll.stateward" (point-min) (point-max)))

;;; Values

(defconst stateward--roots '("effective" "global" "cwd" "session")
  "What every path begins with.")

(defvar stateward-value-font-lock-keywords
  '(("^\\s-*\\(\"\\(?:[^\"\\]\\|\\\\.\\)*\"\\):" 1 'font-lock-variable-name-face)
    ("\\_<\\(?:true\\|false\\|null\\)\\_>" . 'font-lock-constant-face))
  "What is told apart by its looks in a value.")

(defvar-local stateward--uri nil "What the buffer shows.")

(define-derived-mode stateward-value-mode special-mode "Value"
  "Mode for values of the state and for projections, which nobody writes."
  (setq-local font-lock-defaults '(stateward-value-font-lock-keywords)
              revert-buffer-function #'stateward--fill))

(defun stateward--fill (&rest _)
  "Show what the document of the buffer says now."
  (let ((text (plist-get (stateward--ask :state_document :uri stateward--uri) :text))
        (inhibit-read-only t)
        (at (point)))
    (stateward--follow-state)
    (erase-buffer)
    (insert text)
    (goto-char (min at (point-max)))))

(defun stateward--show (name mode &rest settings)
  "Pop to the buffer NAME in MODE, and fill it.
SETTINGS are variables and their values there."
  (let ((server (stateward--server))
        (buffer (get-buffer-create (format "*stateward %s*" name))))
    (with-current-buffer buffer
      (unless (eq major-mode mode) (funcall mode))
      (setq stateward--asked server)
      (cl-loop for (variable value) on settings by #'cddr do (set variable value))
      (revert-buffer))
    (pop-to-buffer buffer)))

(defun stateward--reference-at-point ()
  "Return the path of the state that point is on, or nil."
  (save-excursion
    (skip-chars-backward "A-Za-z0-9_$.:[]-")
    (when (looking-at "\\$?\\(\\(?:effective\\|global\\|cwd\\|session\\)\\b[]A-Za-z0-9_$.:[-]*[]A-Za-z0-9_$-]\\)")
      (match-string-no-properties 1))))

(defun stateward--complete-path (text)
  "Return the paths one level below that TEXT begins."
  (let ((parent (and (string-match "\\`\\(.*\\)\\." text) (match-string 1 text))))
    (if (not parent)
        stateward--roots
      (mapcar #'car (ignore-errors (stateward--children parent))))))

;;;###autoload
(defun stateward-read-state (path)
  "Show the value at PATH of the state, by default the one that point refers to."
  (interactive
   (list (completing-read "Value of: " (completion-table-dynamic #'stateward--complete-path) nil nil
                          (stateward--reference-at-point))))
  (stateward--show path 'stateward-value-mode
                   'stateward--uri (format "stateward:/%s.json" (stateward--quoted (string-replace "." "/" path)))))

(defun stateward-show-projection ()
  "Show what agents read in this document, your changes included."
  (interactive)
  (unless buffer-file-name (user-error "This buffer has no file"))
  (stateward--show (file-name-nondirectory buffer-file-name) 'stateward-value-mode
                   'stateward--uri
                   (format "stateward:/projection%s.json" (stateward--quoted (file-truename buffer-file-name)))))

(defun stateward--quoted (path)
  "Return PATH as it stands in a URI."
  (url-hexify-string path (url--allowed-chars (cons ?/ url-unreserved-chars))))

;;; Browsing

(defconst stateward--elements-max 100
  "How many elements of an array are listed.")

(defvar-local stateward--open nil "The paths whose children are shown.")

(defvar stateward-state-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'stateward-state-visit)
    (define-key map (kbd "TAB") #'stateward-state-toggle)
    (define-key map (kbd "v") #'stateward-state-value)
    (define-key map (kbd "^") #'stateward-state-up)
    (define-key map (kbd "n") #'next-line)
    (define-key map (kbd "p") #'previous-line)
    map)
  "Keys of `stateward-state-mode'.")

(define-derived-mode stateward-state-mode special-mode "State"
  "Mode for browsing the state: keys and kinds, one level at a time.
No value is shown before it is asked for."
  (setq-local revert-buffer-function #'stateward--draw))

;;;###autoload
(defun stateward-browse ()
  "Browse the state: scopes, their planes, and the keys below."
  (interactive)
  (stateward--show "state" 'stateward-state-mode))

(defun stateward--children (path)
  "Return the children of PATH as (PATH NAME KIND), without their values.
The path of a key that no path can name is nil, and so is the kind of
an element."
  (let* ((answer (stateward--ask :read_state :path path :projection "keys"))
         (count (or (plist-get (plist-get answer :meta) :length) 0)))
    (if (equal (plist-get (plist-get answer :meta) :type) "array")
        (cl-loop for index below (min count stateward--elements-max)
                 for name = (format "[%s]" index)
                 collect (list (concat path name) name nil))
      (cl-loop for (key kind) on (plist-get answer :keys) by #'cddr
               for name = (substring (symbol-name key) 1)
               collect (list (and (string-match-p "\\`[A-Za-z_$][A-Za-z0-9_$-]*\\'" name) (concat path "." name))
                             name kind)))))

(defun stateward--draw (&rest _)
  "Draw what is open, and stay at the same path."
  (stateward--follow-state)
  (let ((inhibit-read-only t)
        (at (stateward--path)))
    (erase-buffer)
    (dolist (root stateward--roots) (stateward--draw-line root root "object" 0))
    (stateward--go-to at)))

(defun stateward--draw-line (path name kind depth)
  "Draw NAME of KIND at DEPTH, and below it what is open of PATH."
  (let ((open (member path stateward--open)))
    (insert (propertize
             (concat (make-string (* 2 depth) ?\s)
                     (cond ((not (stateward--has-children kind)) "  ") (open "- ") (t "+ "))
                     (propertize name 'face (if (zerop depth) 'bold 'default))
                     (if kind (propertize (concat "  " kind) 'face 'shadow) ""))
             'stateward-path path 'stateward-kind kind)
            "\n")
    (when open
      (condition-case refused
          (dolist (child (stateward--children path))
            (apply #'stateward--draw-line (append child (list (1+ depth)))))
        (user-error (insert (make-string (* 2 (1+ depth)) ?\s) "  "
                            (propertize (error-message-string refused) 'face 'shadow) "\n"))))))

(defun stateward--has-children (kind)
  "Return whether something of KIND can have children.
The kind of an element is not known, so it can."
  (member kind '("object" "array" nil)))

(defun stateward--path ()
  "Return the path of the line."
  (get-text-property (line-beginning-position) 'stateward-path))

(defun stateward--go-to (path)
  "Go to the line of PATH, or to the nearest above it."
  (goto-char (point-min))
  (while (and path (not (equal (stateward--path) path)) (not (eobp))) (forward-line))
  (when (and path (eobp))
    (stateward--go-to (and (string-match "\\`\\(.*\\)[.[]" path) (match-string 1 path)))))

(defun stateward--path-or-lose ()
  "Return the path of the line, or say that it has none."
  (or (stateward--path) (user-error "No path names this; its parent has the value")))

(defun stateward-state-toggle ()
  "Show or hide the children of the line."
  (interactive)
  (let ((path (stateward--path-or-lose)))
    (setq stateward--open (if (member path stateward--open) (delete path stateward--open) (cons path stateward--open)))
    (revert-buffer)))

(defun stateward-state-visit ()
  "Show or hide the children of the line, or its value if it can have none."
  (interactive)
  (if (stateward--has-children (get-text-property (line-beginning-position) 'stateward-kind))
      (stateward-state-toggle)
    (stateward-state-value)))

(defun stateward-state-value ()
  "Show the value of the line."
  (interactive)
  (stateward-read-state (stateward--path-or-lose)))

(defun stateward-state-up ()
  "Go to the parent of the line."
  (interactive)
  (let ((path (stateward--path-or-lose)))
    (when (string-match "\\`\\(.*\\)[.[]" path) (stateward--go-to (match-string 1 path)))))

;;; Following the state

(defvar stateward--redrawing nil "A timer, while what is shown is older than the state.")

(defun stateward--follow-state ()
  "Be told of changes.
A daemon that took the place of another has to be asked anew."
  (stateward--ask :subscribe :topics ["state"]))

(cl-defmethod eglot-handle-notification ((_server stateward-server) (_method (eql state_changed)) &rest _)
  "Draw what shows the state anew."
  (stateward--redraw-soon))

(defun stateward--redraw-soon ()
  "Draw all that shows the state anew, once for changes that come together."
  (unless stateward--redrawing
    (setq stateward--redrawing (run-with-timer 0.1 nil #'stateward--redraw))))

(defun stateward--redraw ()
  "Draw all that shows the state anew."
  (let (done)
    (unwind-protect
        (dolist (buffer (buffer-list) (setq done t))
          (with-current-buffer buffer
            (when (derived-mode-p 'stateward-value-mode 'stateward-state-mode)
              (ignore-errors (revert-buffer)))))
      (setq stateward--redrawing nil)
      ;; In Emacs 28 the answer that somebody else waits for leaves this as well.
      (unless done (stateward--redraw-soon)))))

(provide 'stateward-mode)
;;; stateward-mode.el ends here
