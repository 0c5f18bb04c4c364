-- Two teams of humanoids play soccer, and a referee counts goals: the script of scenes/soccer.yaml.
--
-- In each team the robot that can kick soonest is the striker: it walks round the ball until the
-- ball lies between its feet and the goal, or another free lane, stands, and shoots. Robot 0 keeps
-- the goal, one robot stays between the ball and its own goal, and one where the ball will go.
-- Between two strikers the faster one has the right of way, and the other keeps its distance.
--
-- The referee puts the ball back when it has left the field, and after a goal both teams on their
-- halves for the kick-off of the other team. Who falls gets up, or is taken to the touch line.

-- ---- the field, and what the robots can do ------------------------------------------------------

local LENGTH, WIDTH, GOAL, RADIUS = 9, 6, 2.6, 0.07 -- [m] field, between the posts, of the ball
local teams = {{name = "blue", side = 1}, {name = "red", side = -1}} -- blue plays along +x
local STARTS = {{-4.1, 0}, {-0.35, 0}, {-2, 1.2}, {-2, -1.2}} -- [m] of a team that plays along +x
local WAITING = -1.3 -- [m] where a striker starts whose team has no kick-off
local SCATTER = 0.1  -- [m] of starts, random

local FORWARD, LEFT, YAW = 0.12, 0.06, 0.8 -- [m/s], [m/s], [rad/s] most of the gait walk_agile
local SHARED = 1.1    -- [1] most sum of the parts of these that are walked at once: beyond, it falls
local SMOOTH = 0.4    -- [s] in which commands change, so that they do not follow the swaying body
local LYING = 0.6     -- [1] cosine of the tilt of a robot that has fallen
local REACH = 5       -- [m] that a shot rolls
local LANE = 0.25     -- [m] to a robot beside the way of a shot
local NEAR, FAR, ASIDE = 0.13, 0.18, 0.055 -- [m] where the ball lies for a shot, from the base
local STANCE = 0.16   -- [m] to the ball before a shot
local ROUND = 0.34    -- [m] to the ball on the way round it
local SPACING = 0.65  -- [m] that robots keep from each other; a striker from its own team: 0.4
local GUARD = 1.0     -- [m] from the ball while the other team has the right of way
local KEEPER = 0.4    -- [m] from the goal line

local PATIENCE = 20 -- [s] of lying, until the referee takes the robot away
local STUCK = 30    -- [s] of a ball at rest, until it is dropped at the center

local abs, max, min, sqrt = math.abs, math.max, math.min, math.sqrt
local sin, cos, atan, pi = math.sin, math.cos, math.atan, math.pi

local function clamp(x, least, most) return max(least, min(most, x)) end
local function wrap(angle) return (angle + pi) % (2 * pi) - pi end
local function length(x, y) return sqrt(x * x + y * y) end

-- ---- what is seen -------------------------------------------------------------------------------

local ball = {position = world:property("ball[0]/base.position"),
              velocity = world:property("ball[0]/base.linear_velocity")}
local players = {} -- of both teams
for t, team in ipairs(teams) do
  team.others = teams[3 - t]
  team.position = world:property(team.name .. "[*]/base.position")
  team.orientation = world:property(team.name .. "[*]/base.orientation")
  team.angle = world:property(team.name .. "[*]/joint.angle")
  team.target = world:property(team.name .. "[*]/joint.target")
  team.stands = {angle = team.angle:all(), position = team.position:all()} -- at the start
  team.select = world:property(team.name .. "[*]/gait.select")
  team.gaits = {} -- names by the numbers in gait.select
  team.done = world:property(team.name .. "[*]/gait.done")
  team.score = world:property(team.name .. "[*]/value.score")
  team.kicks = world:property(team.name .. "[*]/value.kicks")
  team.falls = world:property(team.name .. "[*]/value.falls")
  for i = 1, world:count(team.name) do
    team[i] = {team = team, number = i, command = {0, 0, 0}, since = 0}
    table.insert(players, team[i])
  end
end
local now = 0 -- [s]
local decided = -1 -- [s] when roles and aims were chosen
local waiting -- team that waits for the kick-off of the other one

local function see_ball()
  ball.x, ball.y = ball.position[1], ball.position[2]
  ball.speed = length(ball.velocity[1], ball.velocity[2])
end

local function see(p)
  local i, position, q = p.number, p.team.position, p.team.orientation
  local w, x, y, z = q[4 * i - 3], q[4 * i - 2], q[4 * i - 1], q[4 * i]
  p.x, p.y = position[3 * i - 2], position[3 * i - 1]
  p.heading = atan(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
  p.upright = 1 - 2 * (x * x + y * y)
  p.chest = 2 * (x * z - w * y) -- of the forward axis: below 0 it lies on its front
  p.far = length(p.x - ball.x, p.y - ball.y)
  p.doing = p.team.gaits[p.team.select[i]]
end

-- ---- moves --------------------------------------------------------------------------------------

local MOVES = {shoot_left = true, shoot_right = true, get_up_front = true, get_up_back = true}

-- Follows a gait; forward [m/s], left [m/s] and yaw [rad/s] for walking.
local function follow(p, gait, forward, left, yaw)
  if p.doing ~= gait then
    world:gait(p.team.name, p.number - 1, gait)
    p.team.gaits[p.team.select[p.number]] = gait
    p.doing, p.since = gait, now
  end
  local c, part = p.command, 0.02 / SMOOTH -- a tick of the scene
  if forward then
    c[1], c[2], c[3] = c[1] + part * (forward - c[1]), c[2] + part * (left - c[2]),
                       c[3] + part * (yaw - c[3])
  else
    c[1], c[2], c[3] = 0, 0, 0
  end
  world:command(p.team.name, p.number - 1, c[1], c[2], c[3])
end

-- In the middle of a move; one that is over must be left before it can begin again.
local function is_busy(p)
  if not MOVES[p.doing] then return false end
  if p.team.done[p.number] > 0 then follow(p, "stand") end
  return true
end

-- A velocity [m/s] that leads away from robots that are too near.
local function keep_apart(p, x, y)
  for _, other in ipairs(players) do
    local ax, ay = p.x - other.x, p.y - other.y
    local far = length(ax, ay)
    local least = p == p.team.striker and other.team == p.team and 0.4 or SPACING
    if other ~= p and far < least and far > 0 then
      ax, ay = ax / far, ay / far
      local away = max(0, -(x * ax + y * ay)) + 1.5 * FORWARD * (1 - far / least)
      x, y = x + away * ax, y + away * ay
    end
  end
  return x, y
end

-- To a point [m], where it faces `heading` [rad]; `exact`: it does not stand before it is there.
local function walk(p, x, y, heading, exact)
  x, y = x - p.x, y - p.y
  local far, stands = length(x, y), p.doing == "stand"
  local pace = far > 0 and min(1.2, FORWARD / far) or 0
  local vx, vy = keep_apart(p, pace * x, pace * y)
  p.travels = far > (p.travels and 0.3 or 0.45) -- facing the way
  local angle = wrap((p.travels and atan(vy, vx) or heading) - p.heading)
  if not exact and far < (stands and 0.2 or 0.06) and abs(angle) < (stands and 0.4 or 0.15) then
    return follow(p, "stand")
  end
  local s, c = sin(p.heading), cos(p.heading)
  local forward, left = vx * c + vy * s, vy * c - vx * s
  if p.travels and abs(angle) > 0.7 then forward, left = 0, 0 end -- turns first
  local yaw = 0.7 * clamp(angle, -YAW, YAW)
  local rest = SHARED - 0.85 * abs(yaw) / YAW
  local over = max(1, (abs(forward) / FORWARD + abs(left) / LEFT) / rest)
  follow(p, "walk_agile", forward / over, left / over, yaw)
end

-- ---- the striker --------------------------------------------------------------------------------

-- [m] from the goal after a shot in a direction, more behind robots and for turns; less than 0: a goal.
local function cost_of(p, angle)
  local s, c = sin(angle), cos(angle)
  local goal = 0.5 * LENGTH * p.team.side
  local way = (goal - ball.x) / c
  local cost = -1
  if way < 0 or way > REACH or abs(ball.y + way * s) > 0.5 * GOAL - 0.15 - 0.07 * way then
    local x, y = ball.x + REACH * c, ball.y + REACH * s
    way = REACH
    cost = length(goal - x, y) + 2 * max(0, abs(x) - 0.5 * LENGTH + 0.3) +
           2 * max(0, abs(y) - 0.5 * WIDTH + 0.3)
  end
  for _, other in ipairs(players) do
    local x, y = other.x - ball.x, other.y - ball.y
    local ahead, aside = x * c + y * s, abs(y * c - x * s)
    if other ~= p and ahead > 0 and ahead < way and aside < LANE then
      cost = cost + 2 - aside / LANE
    end
  end
  return cost + 0.6 * abs(wrap(angle - p.heading))
end

-- Direction of the best shot, within 70 degrees of that to the goal.
local function aim_of(p)
  local goal = atan(-ball.y, 0.5 * LENGTH * p.team.side - ball.x)
  local best, least = goal, math.huge
  for i = -14, 14 do
    local angle = goal + i * pi / 36
    local cost = cost_of(p, angle)
    if cost < least then best, least = angle, cost end
  end
  return best
end

-- Angle [rad] from the robot round the ball to the place behind it.
local function round_of(p)
  return wrap(p.aim + pi - atan(p.y - ball.y, p.x - ball.x))
end

-- [s] until it can shoot.
local function time_of(p)
  local way = length(ball.x - ROUND * cos(p.aim) - p.x, ball.y - ROUND * sin(p.aim) - p.y)
  return way / FORWARD + (p.far < 0.6 and abs(round_of(p)) * ROUND / LEFT or 0) +
         abs(wrap(p.aim - p.heading)) / YAW + (p.upright < LYING and 15 or 0)
end

local function attack(p)
  local s, c = sin(p.heading), cos(p.heading)
  local x, y = ball.x - p.x, ball.y - p.y
  local ahead, aside = x * c + y * s, y * c - x * s
  local turn = abs(wrap(p.aim - p.heading))
  if ahead > NEAR and ahead < FAR and abs(aside) < ASIDE and ball.speed < 0.15 and turn < 0.5 and
     cost_of(p, p.heading) < cost_of(p, p.aim) + 0.3 then
    if p.doing ~= "stand" then return follow(p, "stand") end
    if now - p.since < 0.5 then return end
    p.team.kicks[p.number] = p.team.kicks[p.number] + 1
    return follow(p, aside > 0 and "shoot_left" or "shoot_right")
  end
  local round = round_of(p)
  if abs(round) < 2 then -- on the far side it stays with the way that it has taken
    p.way = round > 0 and 1 or -1
  elseif p.way and round * p.way < 0 then
    round = round + 2 * pi * p.way
  end
  local at, radius = p.aim + pi, ROUND
  if abs(round) > 0.3 then
    at = at - round + clamp(round, -0.9, 0.9)
  elseif turn < 0.35 then
    radius = STANCE
  end
  walk(p, ball.x + radius * cos(at), ball.y + radius * sin(at), p.aim, true)
end

-- ---- the others ---------------------------------------------------------------------------------

local function to_ball(p) return atan(ball.y - p.y, ball.x - p.x) end

-- Between the ball and the own goal, at a distance [m] from the ball.
local function guard(p, distance)
  local x, y = -0.5 * LENGTH * p.team.side - ball.x, -ball.y
  local part = min(0.8, distance / max(0.1, length(x, y)))
  walk(p, ball.x + part * x, ball.y + part * y, to_ball(p))
end

local function support(p)
  local side = p.team.side
  if p == p.team.back then
    walk(p, 0.45 * ball.x - 0.55 * 0.5 * LENGTH * side, 0.45 * ball.y, to_ball(p))
  else
    walk(p, clamp(ball.x + 3 * side, -3, 3), ball.y > 0 and -0.8 or 0.8, to_ball(p))
  end
end

local function keep(p)
  local side = p.team.side
  local goal = -0.5 * LENGTH * side
  local far = max(0.1, length(ball.x - goal, ball.y))
  walk(p, goal + KEEPER * side, KEEPER * ball.y / far, side > 0 and 0 or pi)
end

-- Who is striker, and who stays behind.
local function choose_roles(team)
  local best, before = nil, team.striker
  for i, p in ipairs(team) do
    p.aim = aim_of(p)
    p.time = time_of(p) - (p == before and 2 or 0)
    if i > 1 and not (best and best.time <= p.time) then best = p end
  end
  if team[1].far < 1.5 and team[1].time < best.time + 1 then best = team[1] end
  team.striker, team.back = best, nil
  for i = 2, #team do
    local p = team[i]
    if p ~= best and not (team.back and team.back.x * team.side <= p.x * team.side) then
      team.back = p
    end
  end
end

local function act(p)
  local team, theirs = p.team, p.team.others.striker
  if is_busy(p) then return end
  if p.upright < LYING then
    follow(p, p.chest < 0 and "get_up_front" or "get_up_back")
  elseif p == team.striker then
    if waiting == team then
      guard(p, 1.2)
    elseif p.number > 1 and theirs.time < p.time and theirs.far < 0.9 then
      guard(p, GUARD)
    else
      attack(p)
    end
  elseif p.number == 1 then
    keep(p)
  else
    support(p)
  end
end

-- ---- the referee --------------------------------------------------------------------------------

local function put_ball(x, y)
  world:reset("ball")
  ball.position[1], ball.position[2] = x, y
  ball.x, ball.y, ball.speed, ball.rested = x, y, 0, now
end

local function put(p, x, y)
  local team, i, joints = p.team, p.number, #p.team.angle // #p.team
  world:reset(team.name, i - 1)
  for j = joints * (i - 1) + 1, joints * i do
    team.angle[j], team.target[j] = team.stands.angle[j], team.stands.angle[j]
  end
  team.position[3 * i - 2], team.position[3 * i - 1] = x, y
  team.position[3 * i] = team.stands.position[3 * i]
  p.doing, p.down = nil, nil
  follow(p, "stand")
end

local function kick_off(first)
  waiting = first.others
  for _, team in ipairs(teams) do
    for i, p in ipairs(team) do
      local start = STARTS[i] or {-3, 0.7 * (i - 4)}
      local x = i == 2 and team == waiting and WAITING or start[1]
      put(p, team.side * (x - world:random(0, SCATTER)),
          team.side * (start[2] + world:random(-SCATTER, SCATTER)))
    end
  end
  put_ball(0, 0)
  decided = -1
end

-- Counts a fall, and takes away who does not get up.
local function watch(p)
  if p.upright > 0.87 then
    p.down = nil
  elseif p.upright < LYING and not p.down then
    p.down = now
    p.team.falls[p.number] = p.team.falls[p.number] + 1
  elseif p.down and now - p.down > PATIENCE then
    put(p, -p.team.side * (0.5 + p.number), 0.5 * WIDTH - 0.2)
  end
end

local function referee()
  local along, across = abs(ball.x) - 0.5 * LENGTH - RADIUS, abs(ball.y) - 0.5 * WIDTH - RADIUS
  if along > 0 and abs(ball.y) < 0.5 * GOAL then
    local team = teams[ball.x > 0 and 1 or 2]
    local scorer = team.striker.number
    team.score[scorer] = team.score[scorer] + 1
    kick_off(team.others)
  elseif along > 0 then -- a kick by the keeper
    put_ball(ball.x > 0 and 3.6 or -3.6, ball.y > 0 and 0.5 or -0.5)
  elseif across > 0 then
    put_ball(clamp(ball.x, -3.5, 3.5), ball.y > 0 and 2.5 or -2.5)
  elseif ball.speed > 0.05 then
    ball.rested = now
  elseif now - ball.rested > STUCK then
    put_ball(0, 0)
  end
  if length(ball.x, ball.y) > 0.3 then waiting = nil end
end

-- ---- when it is called --------------------------------------------------------------------------

function start()
  kick_off(teams[world:random(2)])
end

function tick(time)
  if time < now then -- the world was set back
    decided, ball.rested = -1, time
    for _, p in ipairs(players) do p.since, p.down = time, nil end
  end
  now = time
  see_ball()
  if teams[1].striker then referee() end
  for _, p in ipairs(players) do see(p) end
  for _, p in ipairs(players) do watch(p) end
  if now >= decided + 0.1 then
    decided = now
    for _, team in ipairs(teams) do choose_roles(team) end
  end
  for _, p in ipairs(players) do act(p) end
end
