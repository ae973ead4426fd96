import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canOpen, children, roots } from "../src/state";
import { context, description, goalsIn, openCount, statusText, type Todo } from "../src/todos";
import { endedAtOnce, isTooOld, notThere, tooOld } from "../src/versions";

const todo = (more: Partial<Todo>): Todo => ({ todo_id: "todo_one", text: "One", role: "agent", status: "open", ...more });
const goal = (more: object) => ({ goal_id: "release", path: "/a/GOAL.md", promoted: false, todos: [todo({})], display: "current", ...more });

describe("the view State", () => {
  it("has the effective view above the scopes of this window", () => {
    assert.deepEqual(roots(["global", "cwd"]).map(({ path }) => path), ["effective", "global", "cwd"]);
  });
  it("names the keys of one level by their paths", () => {
    const level = { meta: { type: "object", size: 2 }, keys: { plan: "object", "a-b": "string" } };
    assert.deepEqual(children("cwd.lazy", level).map(({ path }) => path), ["cwd.lazy.plan", "cwd.lazy.a-b"]);
  });
  it("reads a key that is no name through its parent", () => {
    const [place] = children("cwd.lazy", { meta: { type: "object" }, keys: { "a.b": "object" } });
    assert.deepEqual(place, { label: "a.b", kind: "object", parent: "cwd.lazy" });
    assert.equal(canOpen(place!), false);
  });
  it("numbers the elements of an array, of a long one the first", () => {
    const places = (length: number) => children("cwd.lazy.list", { meta: { type: "array", length }, keys: [] });
    assert.deepEqual(places(2).map(({ path }) => path), ["cwd.lazy.list[0]", "cwd.lazy.list[1]"]);
    assert.equal(places(1e9).length, 1000);
  });
  it("opens what has levels below", () => {
    const opens = (kind: string) => canOpen({ label: "x", kind, path: "cwd.x" });
    assert.deepEqual(["object", "array", "", "string", "null"].map(opens), [true, true, true, false, false]);
  });
});

describe("the view Todos", () => {
  it("offers what can be done about a todo", () => {
    assert.equal(context(todo({})), "todo completable claimable");
    assert.equal(context(todo({ claimed_by: "ada" })), "todo completable");
    assert.equal(context(todo({ role: "user" })), "todo completable");
    assert.equal(context(todo({ status: "done" })), "todo");
  });
  it("says who works on it", () => {
    assert.equal(description(todo({ claimed_by: "ada" })), "claimed by ada");
    assert.equal(description(todo({ status: "blocked", claimed_by: "ada" })), "blocked, claimed by ada");
  });
  it("has the goals of the folders alone", () => {
    const paths = (folders: string[]) => goalsIn([{ path: "/a/GOAL.md" }, { path: "/ab/GOAL.md" }], folders).map(({ path }) => path);
    assert.deepEqual(paths(["/a"]), ["/a/GOAL.md"]);
    assert.deepEqual(paths(["/ab/"]), ["/ab/GOAL.md"]);
    assert.deepEqual(paths(["/"]), ["/a/GOAL.md", "/ab/GOAL.md"]);
  });
});

describe("the status bar", () => {
  it("counts what is open", () => {
    assert.equal(openCount([goal({}), goal({ todos: [todo({ status: "done" })] })]), 1);
    assert.equal(statusText({ ok: true, reason: "" }, [goal({})]).text, "$(checklist) 1 open");
  });
  it("says that a document is behind", () => {
    const { text, tooltip } = statusText({ ok: true, reason: "" }, [goal({ display: "pending" })]);
    assert.match(text, /sync/);
    assert.match(tooltip, /release: what its document shows is pending/);
  });
  it("says why the store takes no changes", () => {
    const { tooltip, wrong } = statusText({ ok: false, reason: "the disk is full" }, []);
    assert.deepEqual([wrong, tooltip], [true, "The store takes no changes: the disk is full"]);
  });
});

describe("versions", () => {
  it("are compared by their first two numbers", () => {
    assert.deepEqual(["0.0.9", "0.1.0", "0.1.7", "0.2.0", "1.0.0"].map((server) => isTooOld(server, "0.1.3")), [true, false, false, false, false]);
    assert.equal(isTooOld("0.10.0", "0.9.0"), false);
    assert.equal(isTooOld("1.0.0", "1.2.0"), true);
    assert.equal(isTooOld(undefined, "0.1.0"), true);
  });
  it("and what is missing are told in one line with the remedy", () => {
    for (const message of [tooOld("0.0.9", "0.1.0"), notThere("stateward"), endedAtOnce(["stateward", "lsp"], "one\nno such verb\n")]) {
      assert.match(message, /^[^\n]+(install|Install|update)[^\n]+$/);
    }
    assert.match(endedAtOnce(["stateward", "lsp"], "one\nno such verb\n"), /: no such verb\./);
  });
});
