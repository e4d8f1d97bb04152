//! Tables from CSV files: what is read is written and read again; values and breaks are sound.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::profile::{After, Interpolation, Profile, Table, TimeGrid};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, csv)) = data.split_first() else {
        return;
    };
    let interpolation = [Interpolation::Linear, Interpolation::Step][usize::from(choice & 1)];
    let after = [After::Hold, After::Repeat, After::Zero][usize::from(choice >> 1) % 3];
    let Ok(table) = Table::from_csv_reader(csv, "t", "x") else {
        return;
    };
    let rows: Vec<String> = (table.times().iter().zip(table.values()))
        .map(|(t, x)| format!("{t:e},{x:e}\n"))
        .collect();
    let again = Table::from_csv_reader(format!("t,x\n{}", rows.concat()).as_bytes(), "t", "x");
    assert_eq!(
        again.as_ref(),
        Ok(&table),
        "a table is not the one that is written from it"
    );

    let Ok(table) = table.with(interpolation, after) else {
        assert!(after == After::Repeat);
        return;
    };
    let (low, high) = Profile::from(table.clone()).bounds().expect("a table has bounds");
    let last = table.times()[table.times().len() - 1];
    for (&t, &x) in table.times().iter().zip(table.values()) {
        let repeats = after == After::Repeat && t == last;
        assert!(
            repeats || table.value(t) == x,
            "at the point {t}: {} for {x}",
            table.value(t)
        );
        for near in [t, t.next_up(), t.next_down(), t + 0.1, t - 0.1, 2.0 * t, -t, 1e6 * t] {
            if !near.is_finite() {
                continue;
            }
            let value = table.value(near);
            assert!(value.is_finite(), "{value} at {near}");
            let slack = 1e-9 * (high - low).abs();
            assert!(
                value >= low - slack && value <= high + slack,
                "{value} at {near} is not from {low} to {high}"
            );
            let next = table.next_point(near);
            assert!(next > near, "the point after {near} is {next}");
            assert!(!table.slope(near).is_nan(), "no slope at {near}");
        }
    }
    if let Ok((grid, _)) = TimeGrid::new(1.0, 0.01) {
        let profile = Profile::from(table);
        let (mut k, mut rounds) = (0, 0);
        while k < 100 && rounds < 200 {
            let next = profile.constant_until(k, &grid);
            assert!(next > k, "constant from {k} to {next}");
            for between in k..next.min(100) {
                assert!(
                    interpolation == Interpolation::Linear
                        || profile.value(grid.time(between)) == profile.value(grid.time(k))
                );
            }
            k = next;
            rounds += 1;
        }
    }
});
