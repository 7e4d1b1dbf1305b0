/** The part of fengari, a Lua 5.3 in JavaScript, that runs the scripts of the limiter. */
declare module "fengari" {
  export interface LuaState {
    readonly isLuaState: unique symbol;
  }

  /** A function that takes its arguments from the stack, and returns how many results it left there. */
  export type LuaFunction = (state: LuaState) => number;

  export const lua: {
    readonly LUA_OK: number;
    readonly LUA_TNUMBER: number;
    readonly LUA_TBOOLEAN: number;
    readonly LUA_TSTRING: number;
    readonly LUA_TTABLE: number;
    lua_call(state: LuaState, args: number, results: number): void;
    lua_createtable(state: LuaState, items: number, fields: number): void;
    lua_error(state: LuaState): number;
    lua_getglobal(state: LuaState, name: Uint8Array): number;
    lua_getfield(state: LuaState, at: number, name: Uint8Array): number;
    lua_gettop(state: LuaState): number;
    lua_pcall(state: LuaState, args: number, results: number, handler: number): number;
    lua_pop(state: LuaState, count: number): void;
    lua_pushboolean(state: LuaState, value: boolean): void;
    lua_pushcfunction(state: LuaState, run: LuaFunction): void;
    lua_pushlstring(state: LuaState, bytes: Uint8Array, length: number): void;
    lua_pushnumber(state: LuaState, value: number): void;
    lua_pushvalue(state: LuaState, at: number): void;
    lua_rawgeti(state: LuaState, at: number, place: number): number;
    lua_rawlen(state: LuaState, at: number): number;
    lua_rawseti(state: LuaState, at: number, place: number): void;
    lua_setfield(state: LuaState, at: number, name: Uint8Array): void;
    lua_setglobal(state: LuaState, name: Uint8Array): void;
    lua_settop(state: LuaState, top: number): void;
    lua_toboolean(state: LuaState, at: number): boolean;
    lua_tonumber(state: LuaState, at: number): number;
    lua_tostring(state: LuaState, at: number): Uint8Array;
    lua_type(state: LuaState, at: number): number;
  };

  export const lauxlib: {
    luaL_loadstring(state: LuaState, source: Uint8Array): number;
    luaL_newstate(): LuaState;
    luaL_requiref(state: LuaState, name: Uint8Array, open: LuaFunction, isGlobal: number): void;
  };

  export const lualib: {
    readonly luaopen_base: LuaFunction;
    readonly luaopen_math: LuaFunction;
    readonly luaopen_string: LuaFunction;
    readonly luaopen_table: LuaFunction;
  };

  export function to_luastring(text: string): Uint8Array;
}
