"""What did a site take back in a month? Asks the tables of `vernal export parquet --out TABLES/` with DuckDB.

    pip install duckdb
    python examples/taken_back.py TABLES SITE 2026-12
"""

import sys

import duckdb

QUESTION = """
SELECT seen_different, url, gone.op, gone.before, gone.after
FROM (
    SELECT seen_different, url, site, unnest(paragraphs) AS gone
    FROM read_parquet($events)
)
WHERE site = $site
  AND strftime(seen_different, '%Y-%m') = $month
  AND gone.op IN ('removed', 'edited')
ORDER BY seen_different, url, gone.position
"""


def taken_back(tables, site, month):
    duckdb.sql("SET TimeZone = 'UTC'")
    answer = duckdb.execute(QUESTION, {"events": f"{tables}/events/*.parquet", "site": site, "month": month})
    return answer.fetchall()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    for moment, url, operation, before, after in taken_back(*sys.argv[1:]):
        print(f"{moment:%Y-%m-%d %H:%M}  {url}")
        print(f"    - {before}")
        if operation == "edited":
            print(f"    + {after}")


if __name__ == "__main__":
    main()
