;;; relay.el --- Run by relays.py in a real Emacs, which says there what this is  -*- lexical-binding: t; -*-

;;; Code:

(require 'package)
(package-initialize)
(require 'json)
(load (expand-file-name "stateward-mode" (getenv "CLIENT")) nil t)

(defvar relay-command (append (list (getenv "PYTHON") "-m" "stateward_daemon") (cdr stateward-command)))
(defvar relay-asked nil "The id of the message that is being received.")

;; Emacs replies to a request when its dispatcher returns; what we are told to reply comes later, or never.
(advice-add 'jsonrpc-connection-receive :around
            (lambda (receive server message)
              (let ((relay-asked (plist-get message :id)))
                (catch 'later (funcall receive server message)))))

(defun relay-tell (socket message)
  "Send MESSAGE to SOCKET, unless nobody reads there any more."
  (let ((line (json-serialize (append '(:jsonrpc "2.0") message) :false-object :json-false :null-object nil)))
    (ignore-errors (process-send-string socket (concat line "\n")))))

(defun relay-server (socket)
  "Start a server whose messages go to SOCKET."
  (make-instance
   'eglot-lsp-server
   :name (process-name socket)
   :process (lambda ()
              (make-process :name "server" :command relay-command :connection-type 'pipe :noquery t
                            :coding 'utf-8-emacs-unix
                            :stderr (get-buffer-create (format "*%s stderr*" (process-name socket)))))
   :notification-dispatcher (lambda (_ method params)
                              (relay-tell socket (list :method (symbol-name method) :params params)))
   :request-dispatcher (lambda (_ method params)
                         (relay-tell socket (list :id relay-asked :method (symbol-name method) :params params))
                         (throw 'later nil))
   :on-shutdown (lambda (_) (delete-process socket))))

(defun relay-pass-on (server socket message)
  "Send to SERVER the MESSAGE that came from SOCKET."
  (let ((id (gethash "id" message)) (method (gethash "method" message)) (params (gethash "params" message)))
    (cond
     ((not method) (jsonrpc-connection-send server :id id :result (gethash "result" message)))
     ((not id) (jsonrpc-notify server (intern method) params))
     (t (jsonrpc-async-request
         server (intern method) params
         :timeout 60
         :success-fn (lambda (result) (relay-tell socket (list :id id :result result)))
         :error-fn (lambda (problem) (relay-tell socket (list :id id :error problem))))))))

(defun relay (socket)
  "Pass messages on between SOCKET and a server, until one of them ends."
  (let* ((server (relay-server socket)) (rest ""))
    (set-process-filter
     socket
     (lambda (_ data)
       (let ((lines (split-string (concat rest data) "\n")))
         (setq rest (car (last lines)))
         (dolist (line (butlast lines))
           (relay-pass-on server socket (json-parse-string line :false-object :json-false :null-object nil))))))
    (while (process-live-p socket) (accept-process-output nil 0.02))
    (ignore-errors (delete-process (jsonrpc--process server)))))

(condition-case nil
    (dotimes (number most-positive-fixnum)
      (relay (make-network-process :name (format "relay-%s" number) :family 'local :service (getenv "RELAY")
                                   :coding 'utf-8-unix :noquery t)))
  (file-error (kill-emacs 0)))
;;; relay.el ends here
