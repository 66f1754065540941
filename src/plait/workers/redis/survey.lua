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
local idle = {}
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    for i = 1, #consumer, 2 do
        if consumer[i] == 'idle' then
            idle[#idle + 1] = consumer[i + 1]
        end
    end
end
return {time, entries, last, pending, idle}
