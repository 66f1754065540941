"""`plait backup` and `plait restore`."""

from tests.cli.support import Desk


def test_a_database_comes_back_from_its_backup(desk: Desk):
    desk.run("hello", "--input", '"Ada"', "--id", "r-1")
    made = desk.plait("backup", "copy", "--json").json
    assert made["file"] == "copy"
    assert made["bytes"] == (desk.folder / "copy").stat().st_size
    assert "restored from copy" in desk.plait("restore", "copy", "--db", "sqlite:///again.db").err
    assert desk.plait("show", "r-1", "--db", "sqlite:///again.db", "--json").json["status"] == "completed"


def test_what_can_not_be_done_is_said_plainly(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    desk.plait("backup", "copy")
    assert desk.plait("backup", "copy", "--json").problem["code"] == "backup.exists"
    assert desk.plait("backup", "other", "--db", "sqlite:///none.db", "--json").problem["code"] == "cli.no_database"
    assert desk.plait("restore", "none", "--json").problem["code"] == "cli.no_file"
    assert desk.plait("restore", "copy", "--db", "http://127.0.0.1:1", "--json").problem["code"] == "cli.needs_database"
