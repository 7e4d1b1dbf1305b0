// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { CreditSource as _tollgate_ledger_v1_CreditSource, CreditSource__Output as _tollgate_ledger_v1_CreditSource__Output } from '../../../tollgate/ledger/v1/CreditSource.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface Credit {
  'sequence'?: (number | string | Long);
  'creditId'?: (string);
  'source'?: (_tollgate_ledger_v1_CreditSource);
  'amountNanos'?: (number | string | Long);
  'leftNanos'?: (number | string | Long);
  'expiredNanos'?: (number | string | Long);
  'expireTime'?: (_google_protobuf_Timestamp | null);
  'createTime'?: (_google_protobuf_Timestamp | null);
  'claimedNanos'?: (number | string | Long);
  'endTime'?: (_google_protobuf_Timestamp | null);
  '_claimedNanos'?: "claimedNanos";
}

export interface Credit__Output {
  'sequence': (Long);
  'creditId': (string);
  'source': (_tollgate_ledger_v1_CreditSource__Output);
  'amountNanos': (Long);
  'leftNanos': (Long);
  'expiredNanos': (Long);
  'expireTime': (_google_protobuf_Timestamp__Output | null);
  'createTime': (_google_protobuf_Timestamp__Output | null);
  'claimedNanos'?: (Long);
  'endTime': (_google_protobuf_Timestamp__Output | null);
  '_claimedNanos'?: "claimedNanos";
}
