"""Operations of patches that SONiC's releases judge differently."""

NEW = {"op": "add", "path": "/WRED_PROFILE/ROGUE_3", "value": {"ecn": "ecn_all"}}
AZURE = {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "value": "1"}
YELLOW = {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/yellow_min_threshold", "value": "1"}
OTHER = {"op": "replace", "path": "/WRED_PROFILE/MINE/green_max_threshold", "value": "1"}
BUFFER = {"op": "add", "path": "/BUFFER_PROFILE/ROGUE_3", "value": {"xoff": "1"}}
TABLE = {"op": "add", "path": "/BUFFER_PROFILE", "value": {"ROGUE_3": {"xoff": "1"}}}
XOFF = {"op": "replace", "path": "/BUFFER_PROFILE/pg_lossless_100000_5m_profile/xoff", "value": "1"}
PLAIN = {"op": "replace", "path": "/BUFFER_PROFILE/ingress_lossless_profile/xoff", "value": "1"}
SIZE = {"op": "replace", "path": "/BUFFER_PROFILE/pg_lossless_100000_5m_profile/size", "value": "1"}
QUEUE = {"op": "add", "path": "/QUEUE/Ethernet0|3/wred_profile", "value": "ROGUE_3"}
EVERY = (NEW, AZURE, YELLOW, OTHER, BUFFER, TABLE, XOFF, PLAIN, SIZE, QUEUE)
