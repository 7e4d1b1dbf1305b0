// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { WalletState as _tollgate_ledger_v1_WalletState, WalletState__Output as _tollgate_ledger_v1_WalletState__Output } from '../../../tollgate/ledger/v1/WalletState.ts';
import type { Balances as _tollgate_ledger_v1_Balances, Balances__Output as _tollgate_ledger_v1_Balances__Output } from '../../../tollgate/ledger/v1/Balances.ts';
import type { Timestamp as _google_protobuf_Timestamp, Timestamp__Output as _google_protobuf_Timestamp__Output } from '../../../google/protobuf/Timestamp.ts';
import type { Long } from '@grpc/proto-loader';

export interface Wallet {
  'walletId'?: (string);
  'state'?: (_tollgate_ledger_v1_WalletState);
  'balances'?: (_tollgate_ledger_v1_Balances | null);
  'createTime'?: (_google_protobuf_Timestamp | null);
  'creditLimitNanos'?: (number | string | Long);
  'newestHoldTime'?: (_google_protobuf_Timestamp | null);
  'endingNanos'?: (number | string | Long);
  '_endingNanos'?: "endingNanos";
}

export interface Wallet__Output {
  'walletId': (string);
  'state': (_tollgate_ledger_v1_WalletState__Output);
  'balances': (_tollgate_ledger_v1_Balances__Output | null);
  'createTime': (_google_protobuf_Timestamp__Output | null);
  'creditLimitNanos': (Long);
  'newestHoldTime': (_google_protobuf_Timestamp__Output | null);
  'endingNanos'?: (Long);
  '_endingNanos'?: "endingNanos";
}
