// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { SpendLimit as _tollgate_ledger_v1_SpendLimit, SpendLimit__Output as _tollgate_ledger_v1_SpendLimit__Output } from '../../../tollgate/ledger/v1/SpendLimit.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface SpendLimitUsage {
  'limit'?: (_tollgate_ledger_v1_SpendLimit | null);
  'usedNanos'?: (number | string | Long);
  'heldNanos'?: (number | string | Long);
  'resetTime'?: (_google_protobuf_Timestamp | null);
  'subject'?: (string);
  '_subject'?: "subject";
}

export interface SpendLimitUsage__Output {
  'limit': (_tollgate_ledger_v1_SpendLimit__Output | null);
  'usedNanos': (Long);
  'heldNanos': (Long);
  'resetTime': (_google_protobuf_Timestamp__Output | null);
  'subject'?: (string);
  '_subject'?: "subject";
}
