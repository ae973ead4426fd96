// An extension for tests: writes what VS Code itself knows into the file $DRIVER_TELLS whenever that changes.
const { renameSync, writeFileSync } = require("node:fs");
const vscode = require("vscode");

const target = process.env.DRIVER_TELLS;

function tell() {
  const problems = {};
  for (const [uri, found] of vscode.languages.getDiagnostics()) {
    problems[uri.fsPath] = found.map(({ code, message, range, source }) => ({
      code: code?.value ?? code,
      message,
      source,
      range: [range.start.line, range.start.character, range.end.line, range.end.character],
    }));
  }
  const documents = {};
  for (const document of vscode.workspace.textDocuments) {
    documents[document.uri.toString(true)] = { text: document.getText(), eol: document.eol === 1 ? "LF" : "CRLF" };
  }
  writeFileSync(`${target}.new`, JSON.stringify({ problems, documents, version: vscode.version }));
  renameSync(`${target}.new`, target);
}

exports.activate = ({ subscriptions }) => {
  const { onDidOpenTextDocument, onDidCloseTextDocument, onDidChangeTextDocument } = vscode.workspace;
  for (const changed of [vscode.languages.onDidChangeDiagnostics, onDidOpenTextDocument, onDidCloseTextDocument, onDidChangeTextDocument]) {
    subscriptions.push(changed(tell));
  }
  tell();
};
