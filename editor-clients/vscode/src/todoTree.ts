// The view Todos: the goals of the workspace, and their todos with what can be done about them.
import { EventEmitter, ThemeIcon, TreeItem, TreeItemCollapsibleState, type TreeDataProvider, Uri } from "vscode";
import type { Goals } from "./goals";
import { context, description, type Goal, icon, openCount, type Todo } from "./todos";

export type Node = { goal: Goal; todo?: Todo };

export class TodoTree implements TreeDataProvider<Node> {
  private readonly changes = new EventEmitter<void>();
  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly goals: Goals) {
    goals.onChange(() => this.changes.fire());
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      return this.goals.goals.map((goal) => ({ goal }));
    }
    return node.todo ? [] : node.goal.todos.map((todo) => ({ goal: node.goal, todo }));
  }

  getTreeItem({ goal, todo }: Node): TreeItem {
    if (!todo) {
      const item = new TreeItem(goal.goal_id, TreeItemCollapsibleState.Expanded);
      item.description = `${openCount([goal])} of ${goal.todos.length} open`;
      item.iconPath = new ThemeIcon("target");
      item.tooltip = goal.path;
      item.contextValue = "goal";
      return item;
    }
    const item = new TreeItem(todo.text, TreeItemCollapsibleState.None);
    item.description = description(todo);
    item.iconPath = new ThemeIcon(icon(todo));
    item.contextValue = context(todo);
    item.tooltip = [`${todo.text}`, `${todo.todo_id}, ${todo.status}, for the ${todo.role}`, description(todo)].filter(Boolean).join("\n");
    item.command = { title: "Open", command: "stateward.todos.open", arguments: [{ goal, todo }] };
    return item;
  }
}

export function documentOf({ goal }: Node): Uri {
  return Uri.file(goal.path);
}
