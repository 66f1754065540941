-- What is in a stream, in one look: its entries, those that were delivered and not acknowledged, and who reads it
local time = redis.call('TIME')
local entries = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
    entries[#entries + 1] = entry[1]
end
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000000)
if pending.err then
    return {time, entries, '0-0', {}, {}}
end
local last = '0-0'
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local fields = {}
    for i = 1, #group, 2 do
        fields[group[i]] = group[i + 1]
    end
    if fields['name'] == ARGV[1] then
        last = fields['last-delivered-id']
    end
end
-- Consumers that are gone: long silent, with nothing that they have. The one that spoke last stays: it may be waiting
local consumers, newest = {}, nil
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    local fields = {}
    for i = 1, #consumer, 2 do
        fields[consumer[i]] = consumer[i + 1]
    end
    consumers[#consumers + 1] = fields
    if newest == nil or fields['idle'] < newest['idle'] then
        newest = fields
    end
end
local idle = {}
for _, each in ipairs(consumers) do
    if each ~= newest and each['pending'] == 0 and each['idle'] > tonumber(ARGV[2]) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], each['name'])
    else
        idle[#idle + 1] = each['idle']
    end
end
return {time, entries, last, pending, idle}
