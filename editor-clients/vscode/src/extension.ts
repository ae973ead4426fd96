import { basename, dirname } from "node:path";
import {
  type Disposable,
  type ExtensionContext,
  StatusBarAlignment,
  type TextDocument,
  ThemeColor,
  type TreeView,
  Uri,

  commands,
  window,
  workspace,
} from "vscode";
import { Goals } from "./goals";
import { Server } from "./server";
import type { Place } from "./state";
import { StateTree } from "./stateTree";
import { type Node, TodoTree, documentOf } from "./todoTree";
import { statusText } from "./todos";

// What takes effect with a new start alone; the server is told of the others.
const NEEDS_START = ["server", "agent", "session", "documents"].map((name) => `stateward.${name}`);
const NAME = "ACTIVE_GOAL_STATE.md";
const GOAL_ID = /^[a-z0-9][a-z0-9._-]{0,79}$/;

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("stateward", { log: true });
  const started = new Server(context.extension.packageJSON.version as string, output);
  server = started;
  const goals = new Goals(started);
  const state = new StateTree(started);
  const views = [
    window.createTreeView("stateward.state", { treeDataProvider: state, showCollapseAll: true }),
    window.createTreeView("stateward.todos", { treeDataProvider: new TodoTree(goals), showCollapseAll: true }),
  ];
  const documents = workspace.createFileSystemWatcher(`**/${NAME}`);
  started.onChange((change) => {
    if (change !== "todos") {
      state.refresh();
    }
    if (change !== "state") {
      goals.refreshSoon();
    }
  });
  // Before promotion people change todos by writing, which is no operation.
  for (const written of [documents.onDidChange, documents.onDidCreate, documents.onDidDelete]) {
    context.subscriptions.push(written(() => goals.refreshSoon()));
  }
  context.subscriptions.push(
    output,
    documents,
    statusBar(goals, started),
    ...views,
    workspace.onDidChangeWorkspaceFolders(() => goals.refreshSoon()),
    workspace.onDidChangeConfiguration((change) => {
      if (NEEDS_START.some((name) => change.affectsConfiguration(name))) {
        void started.restart();
      }
    }),
    ...handlers(started, goals, state, () => output.show()),
  );
  await startWhenWanted(started, views, context.subscriptions);
}

// Other folders with Markdown have no use for a daemon. VS Code gives up looking for a file in a large folder, so an open
// document counts as well.
async function startWhenWanted(server: Server, views: TreeView<unknown>[], subscriptions: Disposable[]): Promise<void> {
  let begun: Promise<void> | undefined;
  const begin = () => (begun ??= server.start());
  const look = ({ uri }: TextDocument) => (basename(uri.path) === NAME ? begin() : undefined);
  subscriptions.push(
    workspace.onDidOpenTextDocument(look),
    ...views.map((view) => view.onDidChangeVisibility(({ visible }) => (visible ? begin() : undefined))),
  );
  workspace.textDocuments.forEach(look);
  if (!begun && (views.some(({ visible }) => visible) || (await hasGoals()))) {
    await begin();
  }
}

// A search takes long where there is much, and a document at the top of a folder needs none.
async function hasGoals(): Promise<boolean> {
  const tops = (workspace.workspaceFolders ?? []).map(({ uri }) => workspace.fs.stat(Uri.joinPath(uri, NAME)));
  const search = workspace.findFiles(`**/${NAME}`, undefined, 1).then(({ length }) => length || Promise.reject());
  return Promise.any([...tops, search]).then(() => true, () => false);
}

export async function deactivate(): Promise<void> {
  await server?.dispose();
}

function handlers(server: Server, goals: Goals, state: StateTree, showOutput: () => void): Disposable[] {
  const about = ({ goal, todo }: Node) => ({ goal_id: goal.goal_id, todo_id: todo?.todo_id });
  // The commands of the server, which shows what is refused.
  const run = async (command: string, argument: object) => {
    await commands.executeCommand(command, argument).then(undefined, () => undefined);
    await goals.refresh();
  };
  const table: Record<string, (...given: never[]) => unknown> = {
    "stateward.restartServer": () => server.restart(),
    "stateward.showOutput": showOutput,
    "stateward.refreshState": () => state.refresh(),
    "stateward.refreshTodos": () => goals.refresh(),
    "stateward.openValue": async (place?: Place) => {
      const path = place ? (place.path ?? place.parent) : await askForPath();
      if (path) {
        await commands.executeCommand("stateward.readState", { path });
      }
    },
    "stateward.registerGoal": async () => {
      await registerGoal(server);
      await goals.refresh();
    },
    "stateward.todos.claim": (node: Node) => run("stateward.claimTodo", about(node)),
    "stateward.todos.complete": (node: Node) => run("stateward.completeTodo", about(node)),
    "stateward.todos.showReceipt": (node: Node) => run("stateward.showReceipt", about(node)),
    "stateward.todos.open": openTodo,
  };
  return Object.entries(table).map(([name, handler]) => commands.registerCommand(name, handler));
}

function askForPath(): Thenable<string | undefined> {
  return window.showInputBox({ title: "Open State Value", prompt: "A path of the state", placeHolder: "cwd.lazy.plan" });
}

async function openTodo(node: Node): Promise<void> {
  const document = await workspace.openTextDocument(documentOf(node));
  const at = document.getText().indexOf(`todo_id=${node.todo?.todo_id}`);
  const range = document.lineAt(document.positionAt(Math.max(at, 0)).line).range;
  await window.showTextDocument(document, at < 0 ? {} : { selection: range });
}

async function registerGoal(server: Server): Promise<void> {
  const uri = window.activeTextEditor?.document.uri ?? (await workspace.findFiles(`**/${NAME}`, undefined, 1))[0];
  if (uri?.scheme !== "file") {
    void window.showInformationMessage("stateward: open a goal document first.");
    return;
  }
  const goal_id = await window.showInputBox({
    title: `Register ${workspace.asRelativePath(uri)}`,
    prompt: "A name for the goal: letters in lower case, digits and . _ -",
    value: basename(dirname(uri.fsPath)).toLowerCase().replaceAll(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, ""),
    validateInput: (text) => (GOAL_ID.test(text) ? undefined : "A letter or digit, then letters in lower case, digits and . _ -"),
  });
  if (goal_id) {
    await server.call("goal_register", { goal_id, path: uri.fsPath }).catch((error: Error) => {
      void window.showErrorMessage(`stateward: ${error.message}`);
    });
  }
}

function statusBar(goals: Goals, server: Server): Disposable {
  const item = window.createStatusBarItem("stateward", StatusBarAlignment.Left);
  item.name = "stateward";
  item.command = "stateward.todos.focus";
  const show = () => {
    if (!server.running) {
      item.text = "$(warning) stateward";
      item.tooltip = "The server does not run. Press to restart it.";
      item.command = "stateward.restartServer";
      item.backgroundColor = new ThemeColor("statusBarItem.warningBackground");
      return;
    }
    const { text, tooltip, wrong } = statusText(goals.health, goals.goals);
    item.text = text;
    item.tooltip = tooltip;
    item.command = "stateward.todos.focus";
    item.backgroundColor = wrong ? new ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  goals.onChange(show);
  show();
  item.show();
  return item;
}
