// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ListTransfersRequest {
  'walletId'?: (string);
  'pageSize'?: (number);
  'pageToken'?: (string);
  '_pageSize'?: "pageSize";
}

export interface ListTransfersRequest__Output {
  'walletId': (string);
  'pageSize'?: (number);
  'pageToken': (string);
  '_pageSize'?: "pageSize";
}
