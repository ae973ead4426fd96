// The view State: scopes, planes and keys, one level at a time. Values are shown where they are opened.
import { EventEmitter, ThemeIcon, TreeItem, TreeItemCollapsibleState, type TreeDataProvider } from "vscode";
import type { Server } from "./server";
import { canOpen, children, type Level, type Place, roots } from "./state";

const ICONS: Record<string, string> = {
  object: "symbol-object",
  array: "symbol-array",
  string: "symbol-string",
  number: "symbol-number",
  boolean: "symbol-boolean",
  null: "symbol-null",
};

export class StateTree implements TreeDataProvider<Place> {
  private readonly changes = new EventEmitter<void>();
  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly server: Server) {}

  refresh(): void {
    this.changes.fire();
  }

  async getChildren(place?: Place): Promise<Place[]> {
    if (!this.server.running) {
      return [];
    }
    if (!place) {
      return roots(Object.keys((await this.server.call("state_status", {})).scopes));
    }
    if (!place.path) {
      return [];
    }
    try {
      const level = await this.server.call("read_state", { path: place.path, projection: "keys" });
      return children(place.path, level as unknown as Level);
    } catch {
      // Somebody has just removed it, and the next refresh shows that.
      return [];
    }
  }

  getTreeItem(place: Place): TreeItem {
    const state = canOpen(place) ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None;
    const item = new TreeItem(place.label, state);
    const shown = place.path ?? place.parent;
    item.id = `${place.parent ?? ""}/${place.label}`;
    item.description = place.kind;
    item.iconPath = new ThemeIcon(ICONS[place.kind] ?? "symbol-field");
    item.contextValue = "value";
    item.tooltip = `${shown}: ${place.kind || "an element"}`;
    if (state === TreeItemCollapsibleState.None) {
      item.command = { title: "Open", command: "stateward.openValue", arguments: [place] };
    }
    return item;
  }
}
