import { type LuaFunction, type LuaState, lauxlib, lua, lualib, to_luastring } from "fengari";

/** What a command of Redis answers to a script. */
export type Reply = number | Uint8Array | null | readonly Reply[];

/** A script gave an error, as Redis reports it. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** Runs a command of a script. */
type RunCommand = (name: string, args: readonly Uint8Array[]) => Reply;

/**
 * Runs Lua scripts with the part of Redis's environment that the limiter uses. Numbers are doubles, as in Redis's
 * Lua 5.1: the integers of this interpreter have 32 bits.
 */
export class LuaMachine {
  readonly #state = lauxlib.luaL_newstate();
  readonly #scripts = new Map<string, number>();
  #run: RunCommand = () => null;

  constructor() {
    const state = this.#state;
    for (const [name, open] of LIBRARIES) lauxlib.luaL_requiref(state, to_luastring(name), open, 1);
    lua.lua_settop(state, 0);
    lua.lua_getglobal(state, to_luastring("table"));
    lua.lua_getfield(state, -1, to_luastring("unpack"));
    lua.lua_setglobal(state, to_luastring("unpack"));
    lua.lua_settop(state, 0);
    setLibrary(state, "redis", { call: (at) => this.#call(at) });
    setLibrary(state, "struct", { pack, unpack });
    setLibrary(state, "cjson", { decode: decodeJson });
    setLibrary(state, "cmsgpack", { pack: packValue, unpack: decodeJson });
    lua.lua_getglobal(state, to_luastring("string"));
    setField(state, "format", formatInteger);
    lua.lua_settop(state, 0);
    lua.lua_createtable(state, 0, 0);
  }

  /** Runs a script, with the commands of this call. Throws {@link ReplyError}. */
  run(
    source: string,
    { keys, args, command }: { keys: readonly string[]; args: readonly string[]; command: RunCommand },
  ): Reply {
    const state = this.#state;
    this.#run = command;
    setList(state, "KEYS", keys);
    setList(state, "ARGV", args);
    lua.lua_rawgeti(state, 1, this.#load(source));
    const status = lua.lua_pcall(state, 0, 1, 0);
    const reply = status === lua.LUA_OK ? readReply(state, -1) : textAt(state, -1);
    lua.lua_settop(state, 1);
    if (status !== lua.LUA_OK) throw new ReplyError(String(reply));
    return reply as Reply;
  }

  /** Returns the place of a script in the table at the bottom of the stack. */
  #load(source: string): number {
    const known = this.#scripts.get(source);
    if (known !== undefined) return known;
    const state = this.#state;
    const status = lauxlib.luaL_loadstring(state, to_luastring(source));
    if (status !== lua.LUA_OK) throw new ReplyError(textAt(state, -1));
    const place = this.#scripts.size + 1;
    lua.lua_rawseti(state, 1, place);
    this.#scripts.set(source, place);
    return place;
  }

  #call(state: LuaState): number {
    const args = Array.from({ length: lua.lua_gettop(state) - 1 }, (_, place) =>
      argumentAt(state, place + 2),
    );
    pushReply(state, this.#run(textAt(state, 1), args));
    return 1;
  }
}

const LIBRARIES: readonly (readonly [string, LuaFunction])[] = [
  ["_G", lualib.luaopen_base],
  ["table", lualib.luaopen_table],
  ["string", lualib.luaopen_string],
  ["math", lualib.luaopen_math],
];
const DOUBLE_BYTES = 8;

function setLibrary(state: LuaState, name: string, functions: Readonly<Record<string, LuaFunction>>): void {
  lua.lua_createtable(state, 0, 0);
  for (const [field, run] of Object.entries(functions)) setField(state, field, run);
  lua.lua_setglobal(state, to_luastring(name));
}

/** Sets a function of the table at the top of the stack. */
function setField(state: LuaState, field: string, run: LuaFunction): void {
  lua.lua_pushcfunction(state, run);
  lua.lua_setfield(state, -2, to_luastring(field));
}

function setList(state: LuaState, name: string, items: readonly string[]): void {
  pushReply(state, items.map(to_luastring));
  lua.lua_setglobal(state, to_luastring(name));
}

/** Packs doubles, which is all that the scripts pack: `<ddd`. */
function pack(state: LuaState): number {
  const count = textAt(state, 1).length - 1;
  const bytes = new Uint8Array(count * DOUBLE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let place = 0; place < count; place += 1) {
    view.setFloat64(place * DOUBLE_BYTES, lua.lua_tonumber(state, place + 2), true);
  }
  lua.lua_pushlstring(state, bytes, bytes.length);
  return 1;
}

function unpack(state: LuaState): number {
  const count = textAt(state, 1).length - 1;
  const bytes = lua.lua_tostring(state, 2);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = lua.lua_gettop(state) > 2 ? lua.lua_tonumber(state, 3) - 1 : 0;
  for (let place = 0; place < count; place += 1) {
    lua.lua_pushnumber(state, view.getFloat64(start + place * DOUBLE_BYTES, true));
  }
  return count;
}

function decodeJson(state: LuaState): number {
  pushJson(state, JSON.parse(textAt(state, 1)) as Json);
  return 1;
}

/** As JSON: the recorded value of a script is read by the same script only. */
function packValue(state: LuaState): number {
  const bytes = Buffer.from(JSON.stringify(readReply(state, 1)));
  lua.lua_pushlstring(state, bytes, bytes.length);
  return 1;
}

/** Formats an integer above 32 bits, which the library refuses: `%d`. */
function formatInteger(state: LuaState): number {
  pushReply(state, Buffer.from(String(lua.lua_tonumber(state, 2))));
  return 1;
}

type Json = number | string | boolean | readonly Json[];

function pushJson(state: LuaState, value: Json): void {
  if (typeof value === "number") lua.lua_pushnumber(state, value);
  else if (typeof value === "boolean") lua.lua_pushboolean(state, value);
  else if (typeof value === "string") pushReply(state, Buffer.from(value));
  else pushEach(state, value, pushJson);
}

/** A missing value is `false`, as in Redis. */
function pushReply(state: LuaState, value: Reply): void {
  if (value === null) lua.lua_pushboolean(state, false);
  else if (typeof value === "number") lua.lua_pushnumber(state, value);
  else if (value instanceof Uint8Array) lua.lua_pushlstring(state, value, value.length);
  else pushEach(state, value, pushReply);
}

function pushEach<Each>(
  state: LuaState,
  items: readonly Each[],
  push: (state: LuaState, each: Each) => void,
): void {
  lua.lua_createtable(state, items.length, 0);
  for (const [place, item] of items.entries()) {
    push(state, item);
    lua.lua_rawseti(state, -2, place + 1);
  }
}

/** Reads a result as Redis does: a number loses its fraction. */
function readReply(state: LuaState, at: number): Reply {
  const type = lua.lua_type(state, at);
  if (type === lua.LUA_TNUMBER) return Math.trunc(lua.lua_tonumber(state, at));
  if (type === lua.LUA_TSTRING) return lua.lua_tostring(state, at).slice();
  if (type !== lua.LUA_TTABLE) return lua.lua_toboolean(state, at) ? 1 : null;
  return Array.from({ length: lua.lua_rawlen(state, at) }, (_, place) => {
    lua.lua_rawgeti(state, at, place + 1);
    const item = readReply(state, -1);
    lua.lua_pop(state, 1);
    return item;
  });
}

function argumentAt(state: LuaState, at: number): Uint8Array {
  if (lua.lua_type(state, at) === lua.LUA_TNUMBER) return Buffer.from(String(lua.lua_tonumber(state, at)));
  return lua.lua_tostring(state, at);
}

function textAt(state: LuaState, at: number): string {
  return Buffer.from(lua.lua_tostring(state, at)).toString("latin1");
}
