// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UnitName as _tollgate_ledger_v1_UnitName, UnitName__Output as _tollgate_ledger_v1_UnitName__Output } from '../../../tollgate/ledger/v1/UnitName.ts';
import type { Long } from '@grpc/proto-loader';

export interface UnitPrice {
  'name'?: (_tollgate_ledger_v1_UnitName);
  'picos'?: (number | string | Long);
}

export interface UnitPrice__Output {
  'name': (_tollgate_ledger_v1_UnitName__Output);
  'picos': (Long);
}
