"""What people do to a live run, without a browser: it acts as it should, can be undone, and a
record of it leads to the same bits."""

import contextlib
import json
import struct
import urllib.error
import urllib.parse
import urllib.request
from random import Random

import pytest
from live_client import Page, Server
from served import COMMAND, ROOT, call, needs_command

pytestmark = needs_command


@pytest.fixture
def live(live):
    """Starts `mayfly view` and opens its page."""
    return lambda *words: Page(live(*words))


def start(*words):
    return Server(COMMAND, *words, folder=ROOT)


def ran(*words):
    return json.loads(call("run", *words, "--json").stdout.splitlines()[-1])


def last_hash(file):
    return json.loads(file.read_text().splitlines()[-1])["hash"]


def push(page, link=2, offset=(0.2, 0.1, 0.2), robot=0):
    links = page.scene["casts"][0]["links"]
    at = page.frame().poses[7 * (robot * links + link) :][:3]
    to = [x + d for x, d in zip(at, offset)]
    page.send("push", robot=robot, link=link, at=[0.01, 0, 0], to=to)


def test_a_session_is_replayed_to_the_same_bits(tmp_path):
    """Everything that a page can do, in one session."""
    file = tmp_path / "session.jsonl"
    server = Server(COMMAND, "models/hexapod.urdf", "--record-session", str(file))
    page = Page(server.address)
    page.until(0.1)
    push(page)
    page.until(0.3)
    page.send("release")
    page.send("set", robot=0, field="joint.target", component=4, value=0.3)
    page.send("keep")
    page.send("level", robot=0, motion="rigid")
    page.until(0.5)
    page.send("back", steps=60)
    assert page.frame().paused
    page.send("run")
    page.until(0.6)
    page.send("back", steps=40)
    page.send("level", robot=0, motion="articulated")
    page.send("return")
    page.send("run")
    push(page, link=5)
    page.until(0.7)
    page.send("pause")
    page.send("set", robot=0, field="joint.target", component=5, value=-0.2)
    page.read()
    assert server.end() == 0
    again = ran("models/hexapod.urdf", "--session", str(file))
    assert again["hash"] == last_hash(file)
    # It goes on where it is done again live, and the record of that holds it too.
    more = tmp_path / "more.jsonl"
    words = ["models/hexapod.urdf", "--session", str(file), "--record-session", str(more)]
    steps = json.loads(file.read_text().splitlines()[-1])["at"]
    server = start(*words, "--duration", str(0.002 * steps), "--speed", "0")
    server.process.wait(timeout=20)
    assert server.end() == 0
    assert ran("models/hexapod.urdf", "--session", str(more))["hash"] == last_hash(more)
    assert more.read_text().count('"push"') == 2  # and those that were undone are not there
    # A hash that is not that of the state is an error, and so is another world.
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(file.read_text().replace(last_hash(file), "0123456789abcdef"))
    for words, says in [
        (["models/hexapod.urdf", "--session", str(wrong)], "0123456789abcdef"),
        (["models/hexapod.urdf", "--session", str(file), "--step", "0.001"], "another world"),
        (["models/ball.xml", "--session", str(file)], "another world"),
        (["models/ball.xml", "--session", "models/ball.xml"], "models/ball.xml:1: expected"),
    ]:
        assert says in call("run", *words, code=1).stderr


def test_bad_lines_of_a_session_are_named(tmp_path):
    file = tmp_path / "session.jsonl"
    server = start("models/hexapod.urdf", "--record-session", str(file), "--paused")
    assert server.end() == 0
    head = file.read_text().splitlines()[0]
    for line, says in [
        ("{", "a JSON object"),
        ("{}", "at and do"),
        ('{"at":1,"do":"jump"}', "push, release"),
        ('{"at":1,"do":"push"}', "a group of the scene"),
        ('{"at":1,"do":"set","group":"robot","robot":9}', "a robot of the group"),
        ('{"at":1,"do":"set","group":"robot","robot":0,"field":"x"}', "a field of the group"),
        ('{"at":1,"do":"level","group":"robot","robot":0,"motion":"x"}', "name of a motion"),
        ('{"at":1,"do":"push","group":"robot","robot":0,"link":0,"point":[1]}', "point and to"),
        ('{"at":1,"do":"return"}', "keep"),
        ('{"at":-1,"do":"release"}', "at and do"),
        ('{"at":2,"do":"release"}\n{"at":1,"do":"release"}', "not before"),
    ]:
        file.write_text(f"{head}\n{line}\n")
        said = call("run", "models/hexapod.urdf", "--session", file, code=1).stderr
        assert f"session.jsonl:{2 + line.count(chr(10))}: expected" in said and says in said


def test_looking_changes_no_bit(tmp_path):
    """A world that pages look at, and one that nobody does."""
    file = tmp_path / "session.jsonl"
    words = ["models/hexapod.urdf", "--gait", "tripod"]
    server = start(*words, "--record-session", str(file), "--duration", "0.6")
    pages = [Page(server.address) for _ in range(3)]
    while pages[0].frame().time < 0.4:
        for page in pages[1:]:
            page.frame()
            page.read()
    server.process.wait(timeout=20)
    assert server.end() == 0
    alone = ran(*words, "--session", str(file))
    assert alone["hash"] == last_hash(file)
    # Without other levels to switch to, the robot does the same.
    plain = ran(*words, "--duration", "0.6")
    for name in ["distance", "kinetic_energy", "base_height"]:
        assert plain[name] == alone[name]


def test_back_and_on_again_is_the_same(live):
    page = live("models/hexapod.urdf", "--speed", "0")
    page.until(0.2)
    push(page)
    page.until(0.5)
    page.send("pause")
    end = page.frame()
    for steps in [1, 1, 1, 100, 7]:
        before = page.frame().time
        page.send("back", steps=steps)
        assert page.frame().time == pytest.approx(max(0.0, before - 0.002 * steps), abs=1e-9)
    passed = round((end.time - page.frame().time) / 0.002)
    for _ in range(passed):
        page.send("step")
        page.read()
    again = page.frame()
    while again.time < end.time:
        again = page.frame()
    assert again.poses == end.poses and again.time == end.time
    page.send("back", steps=10**6)
    assert page.frame().time == 0.0


def test_a_kept_moment_comes_back(live):
    page = live("models/hexapod.urdf", "--paused")
    page.send("return")
    page.read()
    assert "no moment has been kept" in page.notes.pop()
    page.send("run")
    page.until(0.1)
    page.send("pause")
    page.send("keep")
    kept = page.frame()
    page.send("run")
    push(page)
    page.until(0.3)
    page.send("reset")
    page.until(0.05)
    page.send("return")
    page.send("pause")
    page.send("return")
    assert page.frame().poses == kept.poses
    assert page.notes == []


def test_a_level_is_chosen(live):
    page = live("models/hexapod.urdf")
    reading = page.read()
    assert reading["motion"] == "articulated"
    assert reading["motions"] == ["kinematic", "points", "rigid", "prescribed", "articulated"]
    for motion in ["prescribed", "kinematic", "articulated"]:
        page.send("level", robot=0, motion=motion)
        assert page.read()["motion"] == motion
    page.send("level", robot=0, motion="quadrotor")
    page.send("level", robot=0, motion="nothing")
    assert page.read()["motion"] == "articulated"
    assert any("cannot move at this level" in note for note in page.notes)


def test_every_nth_step_is_drawn(live):
    page = live("models/hexapod.urdf", "--speed", "0")
    page.send("every", steps=0)  # is no number of steps
    page.send("every", steps=100)
    page.read()
    page.frame()
    times = [page.frame().time for _ in range(5)]
    assert all(time / 0.2 == pytest.approx(round(time / 0.2), abs=1e-9) for time in times)
    assert len(set(times)) == 5


def load(address, name, data, where="load"):
    """What the server says of a file that is dropped."""
    request = urllib.request.Request(
        f"{address}{where}?name={urllib.parse.quote(name)}", data=data, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def package(files):
    """Files as a page sends several of them."""
    return b"".join(struct.pack("<II", len(name), len(data)) + name + data for name, data in files)


def test_a_folder_is_dropped(live, tmp_path, monkeypatch):
    """It is written to a folder of its own, which nothing leaves and of which nothing is left."""
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.setenv("TMPDIR", str(inner))
    page = live("models/hexapod.urdf")
    address = f"http://127.0.0.1:{page.socket.getpeername()[1]}/"
    mesh = struct.pack("<80xI12f2x", 1, *[0, 0, 1], *[0, 0, 0], *[1, 0, 0], *[0, 1, 0])
    robot = (
        b"<mujoco><asset><mesh name='a' file='../meshes/a.stl'/></asset><worldbody><body>"
        b"<freejoint/><geom type='box' size='.1 .1 .1'/><geom type='mesh' mesh='a' mass='0' "
        b"contype='0' conaffinity='0'/></body></worldbody></mujoco>"
    )
    good = [(b"go/xml/robot.xml", robot), (b"go/meshes/a.stl", mesh)]
    for name, files, says in [
        ("go/xml/robot.xml", good[:1], "mesh '../meshes/a.stl' not found"),
        ("go/xml/other.xml", good, "expected a robot"),
        ("../go.xml", [(b"../go.xml", robot)], "expected a robot"),
        ("/tmp/go.xml", [(b"/tmp/go.xml", robot)], "expected a robot"),
        ("go/xml/robot.xml", [*good, (b"../x", b"")], "without '..'"),
        ("go/xml/robot.xml", [*good, (b"/tmp/x", b"")], "without '..'"),
        ("go/xml/robot.xml", [*good, (b"a/.ssh", b"")], "without '..'"),
        ("go/xml/robot.xml", [*good, (b"a\0b", b"")], "without '..'"),
        ("go/xml/robot.xml", [*good, good[1]], "File exists"),
        ("go/xml/robot.xml", [*good, (b"go/meshes/a.stl/b", b"")], "Not a directory"),
        ("go/xml/robot.xml", [*good, *[(b"a%d" % i, b"") for i in range(4096)]], "at most 4096"),
        ("go/robot.xml", [(b"go/robot.xml", robot.replace(b"../", b"../../"))], "leaves its root"),
    ]:
        status, text = load(address, name, package(files), "load/files")
        assert status == 400 and says in text and "\n" not in text, text
        assert str(inner) not in text.replace(f"{inner}/mayfly-", "") and not list(inner.iterdir())
    data, random = package(good), Random(3)
    for _ in range(60):
        garbage = bytearray(data)
        for _ in range(random.randrange(1, 5)):
            garbage[
                random.randrange(len(good[0][0]) + 8 if random.random() < 0.5 else len(data))
            ] = random.randrange(256)
        status, text = load(
            address,
            "go/xml/robot.xml",
            bytes(garbage[: random.randrange(len(data) + 1)]),
            "load/files",
        )
        assert status in (200, 400) and "\n" not in text
    status, text = load(address, "go/xml/robot.xml", data, "load/files")
    assert (status, text) == (200, "loaded"), text
    assert not list(inner.iterdir()) and sorted(tmp_path.iterdir()) == [inner]
    again = Page(address)
    assert [mesh["triangles"] for mesh in again.scene["casts"][0]["meshes"]] == [1]


def test_a_file_is_dropped(live, tmp_path):
    page = live("models/hexapod.urdf")
    address = f"http://127.0.0.1:{page.socket.getpeername()[1]}/"
    page.frame()
    for name, data, says in [
        ("robot.urdf", b"<robot name='x'>", "robot.urdf:1:"),
        ("scene.yaml", b"groups: [{name: a, model: nothing.urdf}]", "nothing.urdf"),
        ("../robot.urdf", b"<robot/>", "expected a robot"),
        ("robot.sh", b"", "expected a robot"),
        ("", b"", "expected the name"),
    ]:
        status, text = load(address, name, data)
        assert status == 400 and says in text and "\n" not in text and "/tmp" not in text, text
    plugin = b"groups: [{name: a, model: " + str(ROOT / "models/ball.xml").encode()
    status, text = load(address, "scene.yaml", plugin + b", plugins: [{file: /tmp/x.so}]}]")
    assert status == 400 and "plugin" in text
    assert page.frame().time > 0  # nothing has changed
    assert load(address, "big.xml", bytes(1 << 25))[0] == 413
    status, text = load(address, "ball.xml", (ROOT / "models/ball.xml").read_bytes())
    assert (status, text) == (200, "loaded")
    with pytest.raises(OSError):
        while True:
            page.frame()
    other = Page(address)
    assert len(other.scene["casts"]) == 1 and other.scene["casts"][0]["links"] == 1
    other.until(0.1)
    other.close()
    recording = live("models/ball.xml", "--record-session", str(tmp_path / "session.jsonl"))
    address = f"http://127.0.0.1:{recording.socket.getpeername()[1]}/"
    assert "recorded" in load(address, "ball.xml", b"<mujoco/>")[1]


def test_a_page_for_others_takes_no_files():
    server = start("models/ball.xml", "--host", "127.0.0.2")
    address, token = server.address.split("?")
    assert load(address, f"ball.xml&{token}", b"<mujoco/>")[0] == 403
    assert server.end() == 0


def test_frames_must_be_masked(live):
    """RFC 6455, 5.1: a frame that is not masked ends its connection with the status 1002."""
    page = live("models/hexapod.urdf", "--paused")
    address = f"http://127.0.0.1:{page.socket.getpeername()[1]}/"
    other = Page(address)
    other.send_raw(b'{"do":"next"}', mask=b"\x12\x34\x56\x78")
    assert isinstance(other.receive(), bytes)  # a moment
    other.send_raw(b'{"do":"next"}', mask=None)
    assert other.bytes(4) == b"\x88\x02\x03\xea"  # closed, 1002
    other.close()
    assert page.frame().time == 0.0  # the others go on


def test_frames_that_no_browser_sends_harm_nothing(live):
    """Garbage below the messages: cut off, too large, in pieces, of unknown kinds."""
    page = live("models/hexapod.urdf", "--paused")
    address = f"http://127.0.0.1:{page.socket.getpeername()[1]}/"
    random = Random(7)

    def noise(size):
        return random.randbytes(random.randrange(size))

    def send(other, data, **how):
        other.send_raw(data, **how)

    attacks = [
        lambda other: other.socket.sendall(noise(600)),
        lambda other: other.socket.sendall(b"\x81\xfe\x10\x00abcd{"),  # cut off
        lambda other: other.socket.sendall(b"\x81\xff" + b"\x7f" * 8 + b"abcd"),  # 9 exabytes
        lambda other: other.socket.sendall(b"\x81\xff" + b"\xff" * 8),
        lambda other: send(other, b"x" * 3000000),
        lambda other: send(other, b'{"do":', final=False),
        lambda other: [send(other, b"[", opcode=0, final=False) for _ in range(500)],
        lambda other: [send(other, noise(200), opcode=kind) for kind in range(16)],
        lambda other: send(other, b'{"do":"push","robot":0,"link":0,"at":[0,0,0],"to":[1e5,0,0]}'),
        lambda other: send(other, b'{"do":"back","steps":999999999}'),
        lambda other: send(other, b'{"do":"level","robot":0,"motion":"' + b"r" * 4000 + b'"}'),
    ]
    for attack in attacks * 2:
        other = Page(address)
        with contextlib.suppress(OSError):
            attack(other)
        other.close()
    page.send("release")
    page.send("reset")
    assert page.frame().time == 0.0
    assert page.read()["motion"] == "articulated"


def test_a_pull_acts_on_the_link(live):
    """At full dynamics the leg follows the mouse; at levels without forces the robot is moved."""
    page = live("models/hexapod.urdf")
    page.until(0.3)
    push(page, link=3, offset=(0, 0, 0.3))
    page.until(0.5)
    torques, force = page.field("joint.torque"), page.field("base.force")
    assert max(map(abs, torques)) > 1e-3 and force[2] > 1.0
    leg = [i for i, torque in enumerate(torques) if torque != 0.0]
    assert 1 <= len(leg) <= 3  # those between the link and the base
    page.send("set", robot=0, field="joint.torque", component=leg[0], value=0.0)
    page.send("release")
    page.read()
    assert "let go" in page.notes[-1]
    assert max(map(abs, page.field("joint.torque"))) == 0.0
    assert page.field("base.force") == [0.0, 0.0, 0.0]
    page.send("level", robot=0, motion="kinematic")
    before = page.field("base.position")
    push(page, link=0, offset=(0.3, 0, 0))
    time = page.frame().time
    page.until(time + 0.3)
    assert page.field("base.position")[0] > before[0] + 0.1
