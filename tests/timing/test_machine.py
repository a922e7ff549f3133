"""What the processor is called, and what the machine and the container both still have."""

from explorer.timing import machine, memory


def test_a_container_has_no_more_than_its_own_limit_leaves(tmp_path, monkeypatch):
    info, limit, used = (tmp_path / name for name in ("meminfo", "max", "current"))
    info.write_text("MemTotal: 9000000 kB\nMemAvailable: 4000000 kB\n")
    monkeypatch.setattr(memory, "MEMORY_INFO", info)
    monkeypatch.setattr(memory, "CGROUP_LIMIT", limit)
    monkeypatch.setattr(memory, "CGROUP_USED", used)
    monkeypatch.setattr(memory, "CGROUP_STAT", tmp_path / "stat")
    assert machine.free_bytes() == 4_000_000 * 1024
    used.write_text("700\n")
    limit.write_text("max\n")
    assert machine.free_bytes() == 4_000_000 * 1024
    limit.write_text("1000\n")
    assert machine.free_bytes() == 300
    (tmp_path / "stat").write_text("anon 400\ninactive_file 250\nactive_file 50\n")
    assert machine.free_bytes() == 550
    limit.write_text(f"{10**12}\n")
    assert machine.free_bytes() == 4_000_000 * 1024


def test_a_processor_of_two_kinds_is_called_by_its_first(tmp_path, monkeypatch):
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "CPU_INFO", info)
    assert machine.processor_name()
    info.write_text("processor : 0\nmodel name : Large 7: x\nprocessor : 1\nmodel name : Small\n")
    assert machine.processor_name() == "Large 7: x"
