from virtual.transfer import RttSample, parse_samples


def test_samples_are_read_by_their_column_names() -> None:
    text = (
        "t_ns,wr_id,rtt_ns,base_rtt_ns,cwnd_packets,limiter_bps,accepted,reason\n"
        "5,1,2500.5,2000.0,10.0,1000,1,accepted\n"
        "6,2,,2000.0,10.0,1000,0,hold_off\n"
    )
    assert parse_samples(text) == [RttSample(2500.5, True), RttSample(None, False)]
