// What a todo looks like in a tree, and what the status bar says. Nothing here knows VS Code.

// The members of a todo of `todo_list` that are shown.
export interface Todo {
  todo_id: string;
  text: string;
  role: string;
  status: string;
  claimed_by?: string;
  resume_when?: string;
  evidence?: string;
}

export interface Goal {
  goal_id: string;
  path: string;
  promoted: boolean;
  todos: Todo[];
  // `current`, or why the document is behind.
  display: string;
}

export interface Health {
  ok: boolean;
  reason: string;
}

// The words by which package.json says which commands an item has.
export function context({ status, role, claimed_by }: Todo): string {
  const words = ["todo"];
  if (status === "open") {
    words.push("completable");
    if (role === "agent" && !claimed_by) {
      words.push("claimable");
    }
  }
  return words.join(" ");
}

export function description({ status, claimed_by }: Todo): string {
  return [status === "open" ? "" : status, claimed_by ? `claimed by ${claimed_by}` : ""].filter(Boolean).join(", ");
}

export function icon({ status, claimed_by }: Todo): string {
  const icons: Record<string, string> = { done: "pass", blocked: "error", deferred: "clock" };
  return icons[status] ?? (claimed_by ? "account" : "circle-large-outline");
}

export function openCount(goals: Goal[]): number {
  return goals.flatMap(({ todos }) => todos).filter(({ status }) => status === "open").length;
}

// The goals whose documents lie in folders, which are paths without links, as those of goals are.
export function goalsIn<G extends { path: string }>(goals: G[], folders: string[]): G[] {
  return goals.filter(({ path }) => folders.some((folder) => path.startsWith(folder.replace(/\/*$/, "/"))));
}

export function statusText(health: Health, goals: Goal[]): { text: string; tooltip: string; wrong: boolean } {
  const behind = goals.filter(({ display }) => display !== "current");
  const open = openCount(goals);
  const lines = [
    health.ok ? "The store takes changes." : `The store takes no changes: ${health.reason}`,
    ...goals.map(({ goal_id, todos }) => `${goal_id}: ${openCount([{ todos } as Goal])} of ${todos.length} todos open`),
    ...behind.map(({ goal_id, display }) => `${goal_id}: what its document shows is ${display}`),
  ];
  const icons = health.ok ? (behind.length ? "$(sync)" : "$(checklist)") : "$(warning)";
  return { text: `${icons} ${goals.length ? `${open} open` : "stateward"}`, tooltip: lines.join("\n"), wrong: !health.ok };
}
