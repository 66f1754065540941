-- Runs in every new state before the script: takes away what a script may not have, and returns the function that
-- runs it. What is kept in locals here can't be reached by a script, since it has no `debug`.
-- No Python function or object is ever given to Lua: an error of one would hand the script a way to the interpreter.

local encode = ...

local getinfo, sethook, exit = debug.getinfo, debug.sethook, os.exit
local stdout = io.stdout
local create, wrap = coroutine.create, coroutine.wrap
local error, getmetatable, next, rawget, select, tostring, type, xpcall =
  error, getmetatable, next, rawget, select, tostring, type, xpcall
local set_metatable, seed_random = setmetatable, math.randomseed
local format, pack_bytes = string.format, string.pack
local concat, pack, unpack = table.concat, table.pack, table.unpack

local TICK <const> = 1000
local KEPT <const> = {
  _G = true, _VERSION = true, assert = true, coroutine = true, error = true, getmetatable = true, ipairs = true,
  math = true, next = true, pairs = true, pcall = true, rawequal = true, rawget = true, rawlen = true, rawset = true,
  select = true, string = true, table = true, tonumber = true, tostring = true, type = true, utf8 = true,
  xpcall = true,
}

local function send(kind, body)
  stdout:write(pack_bytes(">I4", #body + 1), kind, body)
  stdout:flush()
end

-- Instructions. The hook ends the process, so nothing in Lua can catch it.

local spent, allowed = 0, 0

local function line_of_script()
  local level = 3
  local frame = getinfo(level, "Sl")
  while frame do
    if frame.source == "=script" then return frame.currentline end
    level = level + 1
    frame = getinfo(level, "Sl")
  end
  return 0
end

local function tick()
  spent = spent + TICK
  if spent > allowed then
    send("X", format('{"kind":"instructions","message":"script:%d: instruction limit exceeded"}', line_of_script()))
    exit(false)
  end
end

-- A hook belongs to one coroutine, so each gets its own, and pays for a whole tick in advance.
local function metered(make)
  return function(...)
    local body = ...
    if type(body) ~= "function" then return make(...) end
    spent = spent + TICK
    return make(function(...)
      sethook(tick, "", TICK)
      return body(...)
    end)
  end
end

-- The task log.

local lines, room, cut = 0, 0, false

local function log(text)
  if lines <= 0 or #text > room then
    if not cut then send("P", "(more was printed, but a script may not print so much)") end
    cut = true
    return
  end
  lines, room = lines - 1, room - #text
  send("P", text)
end

local function print_values(...)
  local parts = pack(...)
  for index = 1, parts.n do parts[index] = tostring(parts[index]) end
  log(concat(parts, "\t"))
end

-- Finalizers run where no hook looks.
local function set_plain_metatable(...)
  local _, meta = ...
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then error("'__gc' is not allowed", 2) end
  return set_metatable(...)
end

local null = set_metatable({}, {
  __metatable = false,
  __name = "null",
  __newindex = function() error("null can't be changed", 2) end,
  __tostring = function() return "null" end,
})

local function explain(problem)
  local kind = type(problem)
  if kind == "string" or kind == "number" then return tostring(problem) end
  return format("the error is a %s, not a text", kind)
end

for name in next, _G do
  if not KEPT[name] then _G[name] = nil end
end
string.dump = nil
getmetatable("").__metatable = false
coroutine.create, coroutine.wrap = metered(create), metered(wrap)
setmetatable, print, _G.null = set_plain_metatable, print_values, null

return function(script, arguments, count, high, low, instructions, max_lines, max_printed, max_result)
  seed_random(high, low)
  math.randomseed = function(...)
    if select("#", ...) == 0 then return seed_random(high, low) end
    return seed_random(...)
  end
  allowed, lines, room = instructions, max_lines, max_printed
  sethook(tick, "", TICK)
  local ok, value = xpcall(script, explain, unpack(arguments, 1, count))
  sethook()
  if not ok then return "error", value end
  if max_result == 0 then return "value", value and "true" or "false" end
  return encode(value, null, max_result)
end
