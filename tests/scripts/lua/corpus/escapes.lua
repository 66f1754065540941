--- io is absent: = null
return io
--- os is absent: = null
return os
--- debug is absent: = null
return debug
--- package is absent: = null
return package
--- require is absent: = null
return require
--- dofile is absent: = null
return dofile
--- loadfile is absent: = null
return loadfile
--- load is absent: = null
return load
--- loadstring is absent: = null
return loadstring
--- collectgarbage is absent: = null
return collectgarbage
--- string.dump is absent: = null
return string.dump
--- the bridge to python is absent: = null
return python or lupa or py
--- warn is absent: = null
return warn
--- require of a library of C: runtime
return require("socket.core")
--- a file through a string method: runtime
return ("/etc/passwd"):open()
--- opening a file: runtime
return io.open("/etc/passwd"):read("a")
--- running a command: runtime
return os.execute("id")
--- leaving by os.exit: runtime
os.exit(0)
--- the environment: runtime
return os.getenv("PATH")
--- absent names are not in _G either: = "none"
local found = {}
for _, name in ipairs {"io", "os", "debug", "package", "require", "dofile", "loadfile", "load", "python", "collectgarbage"} do
  if rawget(_G, name) ~= nil or _ENV[name] ~= nil then found[#found + 1] = name end
end
return #found == 0 and "none" or found
--- nothing but plain libraries hangs on _G: = ["_G","_VERSION","assert","coroutine","error","getmetatable","ipairs","math","next","null","pairs","pcall","print","rawequal","rawget","rawlen","rawset","select","setmetatable","string","table","tonumber","tostring","type","utf8","xpcall"]
local names = {}
for name in pairs(_G) do names[#names + 1] = name end
table.sort(names)
return names
--- no value within reach is userdata: = 0
local seen, found = {}, 0
local function look(value)
  if type(value) == "userdata" then found = found + 1 end
  if type(value) ~= "table" or seen[value] then return end
  seen[value] = true
  for key, item in next, value do look(key) look(item) end
  local meta = getmetatable(value)
  if meta then look(meta) end
end
look(_G)
return found
--- the metatable of strings is locked: = false
return getmetatable("")
--- the metatable of strings can't be set: runtime
return setmetatable("", {})
--- the metatable of strings can't be written through: runtime
getmetatable("").__index = function() return "escaped" end
--- the metatable of strings by way of a proxy: runtime
local proxy = setmetatable({}, {__index = getmetatable("")})
proxy.__index.x = 1
--- rawset on the metatable of strings: runtime
rawset(getmetatable(""), "__index", {})
--- the metatable of null is locked: = false
return getmetatable(null)
--- null can't get another metatable: runtime
setmetatable(null, {__index = function() return "escaped" end})
--- null can't be written to: runtime
null.x = 1
--- functions have no metatable: = null
return getmetatable(print)
--- nil has no metatable: = null
return getmetatable(nil)
--- numbers have no metatable: = null
return getmetatable(1)
--- _ENV can be replaced but gives nothing new: runtime
local _ENV = {}
return io.open("/etc/passwd")
--- _ENV with an __index to _G gives nothing new: = null
local _ENV = setmetatable({}, {__index = _G})
return debug
--- a global made by hand is not a library: = "mine"
io = {open = function() return "mine" end}
return io.open("/etc/passwd")
--- bytecode can't be loaded: runtime
return load("\27Lua")
--- bytecode as the script: bytecode
<ESC>LuaT
--- bytecode after a newline is no text: syntax

<ESC>LuaT
--- error objects are not handed out: runtime
error(setmetatable({}, {__tostring = function() return io.open("/etc/passwd"):read("a") end}))
--- an error of the library is a plain string: = "string"
local _, problem = pcall(string.rep)
return type(problem)
--- an error of print is a plain string: = "string"
local _, problem = pcall(print, setmetatable({}, {__tostring = function() return {} end}))
return type(problem)
--- an error of a coroutine is a plain string: = "string"
local _, problem = coroutine.resume(coroutine.create(function() string.rep() end))
return type(problem)
--- an out of memory error is a plain string: = "string"
local _, problem = pcall(string.rep, "x", 1 << 40)
return type(problem)
--- xpcall hands its handler no frames: = "string"
local _, kind = xpcall(function() local x = nil; return x.y end, function(problem, more) return more == nil and type(problem) end)
return kind
--- __gc is refused: runtime
setmetatable({}, {__gc = function() end})
--- __gc added later does nothing: = "quiet"
local ran = false
local meta = {}
for _ = 1, 1000 do setmetatable({}, meta) end
meta.__gc = function() ran = true end
for _ = 1, 100000 do local _ = {} end
return ran and "escaped" or "quiet"
--- __gc by an __index of the metatable is not seen by Lua: = "quiet"
local ran = false
for _ = 1, 1000 do setmetatable({}, setmetatable({}, {__index = {__gc = function() ran = true end}})) end
for _ = 1, 100000 do local _ = {} end
return ran and "escaped" or "quiet"
--- __metatable can't unlock another: = false
local fake = setmetatable({}, {__metatable = "fake"})
return getmetatable(fake) == "fake" and getmetatable("")
--- __pairs can't reach into the encoder: not_json
return setmetatable({f = print}, {__pairs = function() return next, {}, nil end})
--- __index can't feed the encoder: = {}
return setmetatable({}, {__index = function() return "escaped" end, __len = function() return 3 end})
--- __eq can't pass for null: = {"a":{"b":1}}
local always = {__eq = function() return true end}
return {a = setmetatable({b = 1}, always)}
--- __name can't fake the kind of a value: = "userdata"
return (tostring(setmetatable({}, {__name = "userdata"})):match("^userdata"))
--- a NUL does not cut a name short: = null
return _G["io\0x"] or _G["\0io"]
--- a NUL in the result is refused: not_json
return "a\0b"
--- a string of no encoding is refused: not_json
return "\xff\xfe"
--- a lone surrogate is refused: not_json
return "\u{D800}"
--- a code point beyond Unicode is refused: not_json
return "\u{7FFFFFFF}"
--- a function in the result is refused: not_json
return {deep = {print}}
--- a coroutine in the result is refused: not_json
return coroutine.create(print)
--- changed libraries do not reach the encoder: = [1,"a"]
string.format = function() return "escaped" end
table.concat, table.sort, math.type, utf8.len, next, type, rawget = nil, nil, nil, nil, nil, nil, nil
return {1, "a"}
--- a changed string library does not reach print: = 1
string.pack = function() return "\0\0\0\1V" end
table.pack, table.concat, tostring = nil, nil, nil
print("still a line")
return 1
--- what is printed can't pass for an answer: = "real"
print("\0\0\0\7V\"fake\"")
print("V\"fake\"")
return "real"
--- a changed coroutine library does not lose the meter: instruction_limit
coroutine.create, coroutine.wrap = nil, coroutine.wrap
coroutine.wrap(function() while true do end end)()
--- random numbers can't be taken from the clock: = true
math.randomseed() local a = math.random(1 << 40)
math.randomseed() local b = math.random(1 << 40)
return a == b
--- arguments beyond the declared ones are not there: = 0
return select("#", ...)
--- goto can't leave the script: syntax
goto continue
--- a label can't be jumped to from outside: syntax
goto inside; do ::inside:: end
--- the text can't close what is around it: syntax
end return "escaped" do
--- a constant can't be changed: syntax
local x <const> = 1; x = 2
