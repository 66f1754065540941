-- Encodes the result of a script as JSON. Tables are only read with raw access, so no code of the script runs here.
-- Keys are sorted, so the text does not depend on Lua's iteration order.
-- A few shared tables can stand for a text of any length, so the work is bounded by the number of tables: the text of
-- a table that occurs again is copied, and a table with too many parts is refused before any of them is read.

local error, next, rawequal, rawget, type, tonumber, tostring =
  error, next, rawequal, rawget, type, tonumber, tostring
local byte, find, format, gsub, sub = string.byte, string.find, string.format, string.gsub, string.sub
local concat, sort = table.concat, table.sort
local number_type, to_integer, huge = math.type, math.tointeger, math.huge
local length_of_text = utf8.len
local pcall = pcall

local MAX_DEPTH <const> = 100
local SHOWN <const> = 40 -- bytes of a key in a message
local ABOVE <const> = -1 -- in place of a mark: the table is being written
local PIECE_BITS <const>, HEIGHT_BITS <const> = 28, 8
local EXACT <const> = 2 ^ 53
local ESCAPED <const> = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function escape(char) return ESCAPED[char] or format("\\u%04x", byte(char)) end

local function fail(kind, message) error({ kind = kind, message = message }, 0) end

local function number(value)
  if number_type(value) == "integer" then return format("%d", value) end
  if value >= -EXACT and value <= EXACT and value % 1 == 0 then return format("%d", to_integer(value)) end
  for digits = 15, 17 do
    local shown = format("%." .. digits .. "g", value)
    if tonumber(shown) == value then return find(shown, "[.e]") and shown or shown .. ".0" end
  end
end

local function is_array(object)
  local count, last = 0, 0
  for key in next, object do
    if number_type(key) ~= "integer" or key < 1 then return false end
    count = count + 1
    if key > last then last = key end
  end
  return count > 0 and last == count, count
end

-- A mark says where the pieces of a table are and how many levels it has, as one number: it is kept for each table.
local function mark(first, last, height) return (first << PIECE_BITS | last) << HEIGHT_BITS | height end

local function read(mark)
  local place = mark >> HEIGHT_BITS
  return place >> PIECE_BITS, place & (1 << PIECE_BITS) - 1, mark & (1 << HEIGHT_BITS) - 1
end

return function(root, null, max_bytes)
  local pieces, size, marks = {}, 0, {}
  local trail, depth, deepest = {}, 0, 0 -- the keys that lead to the value at hand, and how deep it went so far
  local put

  local function refuse(problem)
    local path = ""
    for level = 1, depth do
      local key = trail[level]
      path = path .. (type(key) == "number" and "[" .. key .. "]" or "." .. sub(key, 1, SHOWN))
    end
    fail("result", "the result" .. path .. " " .. problem)
  end

  local function expect(bytes)
    if size + bytes > max_bytes then fail("too_large", format("the result has more than %d bytes", max_bytes)) end
  end

  local function add(piece)
    expect(#piece)
    size = size + #piece
    pieces[#pieces + 1] = piece
  end

  local function reach(level)
    if level > MAX_DEPTH then fail("result", format("the result is nested deeper than %d levels", MAX_DEPTH)) end
    if level > deepest then deepest = level end
  end

  local function put_text(value)
    if #value > max_bytes then add(value) end
    if not length_of_text(value) then refuse("has a string that is not UTF-8") end
    if find(value, "\0", 1, true) then refuse("has a string with a NUL character") end
    add('"' .. gsub(value, '[%c"\\]', escape) .. '"')
  end

  local function put_number(value)
    if value ~= value or value == huge or value == -huge then refuse("is " .. tostring(value)) end
    add(number(value))
  end

  local function name_of(key)
    local kind = type(key)
    if kind == "string" then return key end
    if kind ~= "number" then refuse("has a " .. kind .. " as a key") end
    if key == huge or key == -huge then refuse("has an infinite number as a key") end
    return tostring(key)
  end

  local function put_array(object, count)
    expect(2 * count + 1) -- no item is shorter than a digit
    for index = 1, count do
      add(index == 1 and "[" or ",")
      trail[depth] = index
      put(rawget(object, index))
    end
    add("]")
  end

  local function put_object(object)
    depth = depth - 1 -- the keys are looked at from outside
    local names, keys, count = {}, {}, 0
    for key in next, object do
      local name = name_of(key)
      count = count + 1
      expect(5 * count + 1) -- no entry is shorter than `"":1`
      if keys[name] ~= nil then refuse("has the key " .. sub(name, 1, SHOWN) .. " as a number and as a string") end
      names[count], keys[name] = name, key
    end
    depth = depth + 1
    sort(names)
    add("{")
    for index, name in next, names do
      if index > 1 then add(",") end
      trail[depth] = name
      put_text(name)
      add(":")
      put(rawget(object, keys[name]))
    end
    add("}")
  end

  local function put_again(mark_of_it)
    local first, last, height = read(mark_of_it)
    reach(depth + height)
    add(concat(pieces, "", first, last))
  end

  local function put_table(object)
    local found = marks[object]
    if found == ABOVE then refuse("is a table that holds itself") end
    if found then return put_again(found) end
    local first, deepest_before = #pieces + 1, deepest
    reach(depth + 1)
    marks[object], depth, deepest = ABOVE, depth + 1, depth + 1
    local array, count = is_array(object)
    if array then put_array(object, count) else put_object(object) end
    depth = depth - 1
    marks[object] = mark(first, #pieces, deepest - depth)
    if deepest_before > deepest then deepest = deepest_before end
  end

  function put(value)
    local kind = type(value)
    if value == nil or rawequal(value, null) then add("null")
    elseif kind == "boolean" then add(tostring(value))
    elseif kind == "number" then put_number(value)
    elseif kind == "string" then put_text(value)
    elseif kind == "table" then put_table(value)
    else refuse("is a " .. kind)
    end
  end

  local ok, problem = pcall(put, root)
  if ok then return "value", concat(pieces) end
  if type(problem) == "table" then return problem.kind, problem.message end
  return "error", problem
end
