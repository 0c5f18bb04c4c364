-- Pushes a standing humanoid to its side, each time harder and from the same state, until it falls.

local SETTLE = 1.0    -- [s] before the first push
local WATCH = 2.0     -- [s] after a push
local HARDER = 20     -- [s/m] pushes up to one of 1 m/s

local speed = world:property("humanoid[0]/base.linear_velocity.y")
local height = world:property("humanoid[0]/base.position.z")
local rotation = world:property("humanoid[0]/base.orientation") -- w, x, y, z
local pushes = results.table("pushes.csv", {"push", "lean", "height", "fell"})

local before   -- snapshot of the standing robot
local number, push = 0, 0 -- of the push; [m/s] added to the speed of the base
local began    -- [s]
local lean     -- [rad] most after this push
local fell

-- [rad] of the body's z axis from the vertical.
local function tilt()
  local x, y = rotation[2], rotation[3]
  return math.acos(1 - 2 * (x * x + y * y))
end

local function push_harder()
  world:restore(before)
  number = number + 1
  push = number / HARDER
  speed[1] = speed[1] + push
  began, lean, fell = world:time(), 0, false
end

function event(e)
  if e.kind == "fall" then fell = true end
end

function tick(time)
  if not before then
    if time >= SETTLE then
      before = world:snapshot()
      push_harder()
    end
    return
  end
  lean = math.max(lean, tilt())
  if not fell and time - began < WATCH then return end
  pushes:row(push, lean, height[1], fell)
  if fell then
    world:stop(string.format("fell after a push of %.2f m/s", push))
  else
    push_harder()
  end
end

function finish()
  results.json("summary.json", {push = push, fell = fell == true})
end
