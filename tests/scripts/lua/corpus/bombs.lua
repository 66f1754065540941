--- an endless loop: limit
while true do end
--- an endless repeat: limit
repeat until false
--- an endless goto: limit
::again:: goto again
--- an endless for: limit
for _ = 1, math.huge do end
--- an endless loop within pcall, over and over: limit
while true do pcall(function() while true do end end) end
--- an endless loop in a handler of xpcall: limit
xpcall(error, function() while true do end end)
--- an endless loop in a handler, called by the limit: limit
xpcall(function() while true do end end, function() while true do end end)
--- a handler that raises for ever: runtime
xpcall(error, function() error() end)
error("went on")
--- handlers within handlers: limit runtime
local function f() xpcall(error, f) return f() end
f()
--- an endless loop in a coroutine: limit
coroutine.wrap(function() while true do end end)()
--- an endless loop in a coroutine, resumed over and over: limit
while true do coroutine.resume(coroutine.create(function() while true do end end)) end
--- many short coroutines: limit
while true do coroutine.wrap(function() for _ = 1, 900 do end end)() end
--- an endless yield: limit
local next_one = coroutine.wrap(function() while true do coroutine.yield() end end)
while true do next_one() end
--- coroutines that are kept: limit
local kept = {}
while true do
  local co = coroutine.create(function() coroutine.yield() end)
  coroutine.resume(co)
  kept[#kept + 1] = co
end
--- coroutines within coroutines: limit runtime
local function nest() return coroutine.wrap(nest)() end
nest()
--- an endless loop while a coroutine closes: limit
local co = coroutine.create(function()
  local _ <close> = setmetatable({}, {__close = function() while true do end end})
  coroutine.yield()
end)
coroutine.resume(co)
coroutine.close(co)
--- an endless loop in __close: limit
do local _ <close> = setmetatable({}, {__close = function() while true do end end}) end
--- an endless loop in __close after an error: limit
local _ <close> = setmetatable({}, {__close = function() while true do end end})
error("out")
--- an endless loop in __gc: runtime
setmetatable({}, {__gc = function() while true do end end})
error("went on")
--- an endless loop in __index: limit
return setmetatable({}, {__index = function() while true do end end}).x
--- an __index that leads to itself: runtime
local t = setmetatable({}, {}) getmetatable(t).__index = t
return t.x
--- an endless loop in __tostring of print: limit
print(setmetatable({}, {__tostring = function() while true do end end}))
--- an endless loop in __lt of a sort: limit
local m = {__lt = function() while true do end end}
table.sort({setmetatable({}, m), setmetatable({}, m), setmetatable({}, m)})
--- an endless loop in __concat: limit
return setmetatable({}, {__concat = function() while true do end end}) .. "x"
--- an endless loop in an iterator: limit
for _ in function() return 1 end do end
--- an endless gsub: limit
while true do (("a"):rep(100)):gsub(".", function(c) return c end) end
--- a pattern of many options: limit
return string.find(("a"):rep(26), ("a?"):rep(26) .. ("a"):rep(26))
--- a pattern of many stars: limit
return (("a"):rep(5000)):find((".-"):rep(12) .. "b")
--- a pattern of many captures: limit
return (("x"):rep(300)):match(("(.*)"):rep(30) .. "y")
--- a pattern that backtracks in gsub: limit
return (("a"):rep(30000)):gsub(".-.-.-.-b", "")
--- a pattern of balanced brackets: limit runtime
return (("("):rep(500000)):find("%b()%b()")
--- a pattern as deep as it is long: limit runtime
return (("a"):rep(300000)):find(("a?"):rep(300000))
--- a long string by rep: limit
return ("x"):rep(1 << 30)
--- a long string by rep with a separator: limit
return ("x"):rep(1 << 20, ("y"):rep(1000))
--- a string longer than any number of bytes: runtime
return ("x"):rep(math.maxinteger)
--- a string doubled for ever: limit
local s = "x" while true do s = s .. s end
--- a string doubled for ever, caught: limit
local s = "x" while true do pcall(function() s = s .. s end) end
--- many short strings that are kept: limit
local t, i = {}, 0 while true do i = i + 1 t[i] = "string number " .. i end
--- a concat of a large table: limit
local t = {} for i = 1, 1000000 do t[i] = "0123456789012345678901234567890123456789" end
while true do t[1] = table.concat(t) end
--- a gsub that grows: limit
local s = "a" while true do s = s:gsub("a", "aa") end
--- a format of great width: runtime
return ("%99999d"):format(1)
--- a format with great precision: runtime
return ("%.999f"):format(1)
--- a format of a long string, over and over: limit
local s = "x" while true do s = ("%s%s"):format(s, s) end
--- a pack of great padding: limit runtime
return string.pack("!16" .. ("Xi16"):rep(100000) .. "s8", ("x"):rep(1 << 30))
--- an array without end: limit
local t = {} for i = 1, math.huge do t[i] = i end
--- tables in tables without end: limit
local t = {} while true do t = {t} end
--- tables in tables without end, caught: limit
local t = {} while true do pcall(function() while true do t = {t, {}} end end) end
--- a hash without end: limit
local t = {} while true do t[{}] = {} end
--- closures without end: limit
local t = {} while true do local n = #t; t[n + 1] = function() return n, t end end
--- a table made large at once: limit runtime
return #table.pack(table.unpack({}, 1, 1 << 24))
--- an unpack of all integers: runtime
return table.unpack({}, math.mininteger, math.maxinteger)
--- an unpack of a million values, over and over: limit runtime
while true do select("#", table.unpack({}, 1, 900000)) end
--- a move of all integers: limit
table.move({}, 1, math.maxinteger - 1, 2, setmetatable({}, {__newindex = function() end}))
--- an insert at a great index: limit runtime
return table.insert(setmetatable({}, {__len = function() return math.maxinteger - 1 end}), 1, "x")
--- a concat of all integers: limit runtime
return table.concat(setmetatable({}, {__index = function() return "x" end}), "", 1, math.maxinteger - 1)
--- a sort that lies: limit runtime
local t = {} for i = 1, 100000 do t[i] = i end
while true do table.sort(t, function() return true end) end
--- a length that lies: limit runtime
for _ in ipairs(setmetatable({}, {__index = function() return 1 end})) do end
--- deep recursion: runtime limit
local function f() return 1 + f() end
return f()
--- deep recursion, caught over and over: limit
local function f() return 1 + f() end
while true do pcall(f) end
--- endless tail calls: limit
local function f() return f() end
return f()
--- recursion through pcall: runtime limit
local function f() return pcall(f) end
f()
while true do pcall(f) end
--- recursion through gsub: runtime limit
local function f(s) return (s:gsub(".", f)) end
return f("x")
--- recursion through a metamethod: runtime limit
local t = setmetatable({}, {__add = function(a, b) return a + b end})
return t + t
--- a result too large: result_too_large
return ("x"):rep(2000000)
--- a result with too many parts: result_too_large
local t = {} for i = 1, 300000 do t[i] = i end
return t
--- a result that doubles at every level: result_too_large
local t = {1} for _ = 1, 60 do t = {t, t} end
return t
--- a result that holds itself: not_json
local t = {} t.me = {t} return t
--- a result nested too deep: not_json
local t = {} for _ = 1, 100000 do t = {t} end
return t
--- a result with long keys at every level: result_too_large
local key, t = ("k"):rep(100000), {} for _ = 1, 50 do t = {[key] = t} end
return t
--- not a number: not_json
return 0 / 0
--- an infinite number: not_json
return {math.huge}
--- an infinite number as a key: not_json
return {[math.huge] = 1}
--- the smallest integer divided: = -9223372036854775808
return math.mininteger // -1
--- the smallest integer modulo: = 0
return math.mininteger % -1
--- an integer divided by zero: runtime
return 1 // 0
--- a number too long to read: = false
return tonumber(("9"):rep(100000)) == 1
--- a loop at the end of the integers: = 1
local count = 0
for _ = math.maxinteger, math.maxinteger do count = count + 1 end
return count
--- a shift by everything: = 0
return 1 << math.maxinteger
--- random numbers of an empty range: runtime
return math.random(2, 1)
--- utf8 of a huge code point: runtime
return utf8.char(math.maxinteger)
--- utf8 beyond the string: runtime
return utf8.offset("x", 1, math.maxinteger)
--- a byte of all positions: runtime
return ("x"):rep(10000000):byte(1, -1)
--- print without end: limit
while true do print(("x"):rep(1000)) end
--- print of a long line: = 1
print(("x"):rep(10000000)) return 1
--- an error with a long message: runtime
error(("x"):rep(10000000))
--- an error about an error about an error: runtime
local function fail(n) error(n == 0 and "last" or select(2, pcall(fail, n - 1))) end
fail(150)
--- an error that is a table of errors: runtime
error({error = {error = setmetatable({}, {__index = error})}})
--- a yield outside of a coroutine: runtime
coroutine.yield(1)
