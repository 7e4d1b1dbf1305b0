// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UsageDimension as _tollgate_ledger_v1_UsageDimension, UsageDimension__Output as _tollgate_ledger_v1_UsageDimension__Output } from '../../../tollgate/ledger/v1/UsageDimension.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';

export interface UsageGroup {
  'dimension'?: (_tollgate_ledger_v1_UsageDimension);
  'time'?: (_google_protobuf_Timestamp | null);
  'text'?: (string);
  'others'?: (boolean);
  'value'?: "time"|"text"|"others";
}

export interface UsageGroup__Output {
  'dimension': (_tollgate_ledger_v1_UsageDimension__Output);
  'time'?: (_google_protobuf_Timestamp__Output | null);
  'text'?: (string);
  'others'?: (boolean);
  'value'?: "time"|"text"|"others";
}
